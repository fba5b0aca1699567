/* C11 5.1.2.4 p11: an exchange that is relaxed takes the lock, but does not synchronise with who gave it back. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int data;

void *t(void *unused)
{
    while (atomic_exchange_explicit(&taken, 1, memory_order_relaxed))
        ;
    data++;
    atomic_exchange_explicit(&taken, 0, memory_order_release);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, t, 0);
    t(0);
    pthread_join(thread, 0);
    return 0;
}
