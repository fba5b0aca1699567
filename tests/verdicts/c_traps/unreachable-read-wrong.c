/* GNU: a thread comes to what is said not to be reached, as memory decides. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *thread(void *unused)
{
    atomic_store(&x, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    if (atomic_load(&x))
        __builtin_unreachable();
    pthread_join(t, NULL);
    return 0;
}
