/* C11 6.5.7p3: a shift by as many bits as there are, by a number that is read. */
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;
unsigned y;

void *thread(void *unused)
{
    y = 1u << atomic_load(&x);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 32);
    pthread_join(t, 0);
    return 0;
}
