/* While t waits it writes to z, and it changes z back in the end. So v, which waits for that, goes on. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag, z;

void *u(void *unused)
{
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}

void *t(void *unused)
{
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 0)
        atomic_exchange_explicit(&z, 1, memory_order_relaxed);
    atomic_store_explicit(&z, 0, memory_order_relaxed);
    return 0;
}

void *v(void *unused)
{
    while (atomic_load_explicit(&z, memory_order_relaxed) == 1)
        ;
    return 0;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, u, 0);
    pthread_create(&threads[1], 0, t, 0);
    pthread_create(&threads[2], 0, v, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
