/* C11 6.5p5: the sum of what is read, which is 0 or one less than the greatest int, and 1. */
#include <limits.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int next = atomic_load(&x) + 1;
    return (void *)(long)(next > 0);
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, INT_MAX - 1);
    pthread_join(t, 0);
    return 0;
}
