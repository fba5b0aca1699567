/* C11 7.17.3p4: what is released by nobody is not acquired: a relaxed store does not order what is before it. */
#include <stdatomic.h>
#include <pthread.h>

int x;
atomic_int flag;

void *thread(void *unused)
{
    x = 1;
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    int found = 0;
    if (atomic_load_explicit(&flag, memory_order_acquire))
        found = x;
    pthread_join(t, 0);
    return found >> 1;
}
