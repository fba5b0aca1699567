/* POSIX, pthread_barrier_init: to initialise a barrier that is initialised is undefined. */
#include <pthread.h>
#include <stdatomic.h>

pthread_barrier_t barrier;
atomic_int x, y;

void *writer(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return NULL;
}

void *reader(void *unused)
{
    if (atomic_load_explicit(&y, memory_order_relaxed) && !atomic_load_explicit(&x, memory_order_relaxed))
        pthread_barrier_init(&barrier, NULL, 3);
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&other, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
