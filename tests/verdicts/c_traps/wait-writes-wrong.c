/* C11 5.1.2.4: t writes to z while it waits, and never changes it back. So v may wait for ever, for a round of t that
   changes nothing for t changes z for v. */
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
