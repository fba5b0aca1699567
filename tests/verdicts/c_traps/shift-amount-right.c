/* C17 6.5.7p3: a shift by less than the bits. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, result;

void *thread(void *unused)
{
    atomic_store(&x, 31);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int count = atomic_load(&x);
    atomic_store(&result, 1u >> count & 1);
    pthread_join(t, NULL);
    return 0;
}
