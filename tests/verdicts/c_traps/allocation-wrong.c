/* C11 7.22.3p1 and 5.1.2.4: the life of an object begins where malloc gives it; a use that nothing orders behind that
   races with it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) shared;

void *maker(void *unused)
{
    atomic_store_explicit(&shared, malloc(sizeof(int)), memory_order_relaxed);
    return NULL;
}

void *user(void *unused)
{
    int *object = atomic_load_explicit(&shared, memory_order_acquire);
    if (object)
        *object = 18;
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
