/* C17 6.5.7p4: 1 is shifted as far as an int has room. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, result;

void *thread(void *unused)
{
    atomic_store(&x, 30);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int count = atomic_load(&x);
    atomic_store(&result, 1 << count);
    pthread_join(t, NULL);
    return 0;
}
