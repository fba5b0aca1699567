/* C11 6.5.3.2p4: a null pointer is followed, which another thread has written. */
#include <stdatomic.h>
#include <pthread.h>

int x;
int *_Atomic where = &x;

void *thread(void *unused)
{
    *atomic_load(&where) = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&where, (int *)0);
    pthread_join(t, 0);
    return 0;
}
