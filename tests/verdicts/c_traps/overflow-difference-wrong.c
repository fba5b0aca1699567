/* C11 6.5p5: the difference of a long that is read. */
#include <limits.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_long x;

void *thread(void *unused)
{
    return (void *)(atomic_load(&x) - 1);
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, LONG_MIN);
    pthread_join(t, 0);
    return 0;
}
