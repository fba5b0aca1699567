/* C17 6.3.1.4p1: a float that is too large for an int becomes one. */
#include <pthread.h>
#include <stdatomic.h>

_Atomic float x;
atomic_int result;

void *thread(void *unused)
{
    atomic_store(&x, 3e9f);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    float number = atomic_load(&x);
    atomic_store(&result, (int)number);
    pthread_join(t, NULL);
    return 0;
}
