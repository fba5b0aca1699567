/* C11 7.17.3p4 and 7.17.4p2: a fence that releases before a relaxed store, which is acquired. */
#include <stdatomic.h>
#include <pthread.h>

int x;
atomic_int flag;

void *thread(void *unused)
{
    x = 1;
    atomic_thread_fence(memory_order_release);
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
