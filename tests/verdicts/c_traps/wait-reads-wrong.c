/* C11 5.1.2.4, a data race: t reads z while it waits, and v writes to z when it is told that t has waited. To be told
   is no happens-before, for each order is relaxed. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag, told;
int z;

void *u(void *unused)
{
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}

void *t(void *unused)
{
    int last = 0;
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 0)
        last = z;
    atomic_store_explicit(&told, 1, memory_order_relaxed);
    return 0;
}

void *v(void *unused)
{
    if (atomic_load_explicit(&told, memory_order_relaxed) == 1)
        z = 1;
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
