/* C11 6.5.3.3p3 and 6.5p5: the opposite of the least int is none. */
#include <limits.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;
int y;

void *thread(void *unused)
{
    y = -atomic_load(&x);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, INT_MIN);
    pthread_join(t, 0);
    return 0;
}
