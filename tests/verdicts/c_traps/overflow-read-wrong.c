/* C11 6.5p5: the sum of what is read, which may be the greatest int, and 1. */
#include <limits.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int next = atomic_load(&x) + 1;
    atomic_store(&x, next);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, INT_MAX);
    pthread_join(t, 0);
    return 0;
}
