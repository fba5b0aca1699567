/* C11 6.7.9p10: what malloc gives has no value, also for the thread that acquires its address. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) shared;

void *maker(void *unused)
{
    atomic_store_explicit(&shared, malloc(sizeof(int)), memory_order_release);
    return NULL;
}

void *user(void *unused)
{
    int *object = atomic_load_explicit(&shared, memory_order_acquire);
    if (object)
        (*object)++;
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, maker, NULL);
    pthread_create(&other, NULL, user, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
