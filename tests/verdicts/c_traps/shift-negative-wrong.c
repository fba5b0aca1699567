/* C17 6.5.7p4: a negative number is shifted to the left. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, result;

void *thread(void *unused)
{
    atomic_store(&x, -1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int number = atomic_load(&x);
    atomic_store(&result, number << 1);
    pthread_join(t, NULL);
    return 0;
}
