/* C11 6.5p5: a compiler takes x + 1 > x for true; where x is the greatest int, it is undefined. */
#include <limits.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x, y;

void *thread(void *unused)
{
    int now = atomic_load(&x);
    if (now + 1 > now)
        atomic_store(&y, 1);
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
