/* C17 6.5.7p4: what is unsigned is shifted modulo its range. */
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
    unsigned count = atomic_load(&x);
    atomic_store(&result, (int)(1u << count) >> 31);
    pthread_join(t, NULL);
    return 0;
}
