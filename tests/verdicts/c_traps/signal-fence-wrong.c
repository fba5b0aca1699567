/* C11 7.17.4.2p2: a signal fence orders nothing for other threads. */
#include <stdatomic.h>
#include <pthread.h>

int x;
atomic_int flag;

void *thread(void *unused)
{
    x = 1;
    atomic_signal_fence(memory_order_seq_cst);
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
