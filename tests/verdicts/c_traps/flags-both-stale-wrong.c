/* C11 5.1.2.4: neither read of the other's flag need see that it is raised, as no order but acquire and release holds:
   both threads count at once. And if both see it, both wait for ever. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int mine, theirs;
int data;

void *t(void *unused)
{
    atomic_store_explicit(&mine, 1, memory_order_release);
    while (atomic_load_explicit(&theirs, memory_order_acquire))
        ;
    data++;
    atomic_store_explicit(&mine, 0, memory_order_release);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, t, 0);
    atomic_store_explicit(&theirs, 1, memory_order_release);
    while (atomic_load_explicit(&mine, memory_order_acquire))
        ;
    data++;
    atomic_store_explicit(&theirs, 0, memory_order_release);
    pthread_join(thread, 0);
    return 0;
}
