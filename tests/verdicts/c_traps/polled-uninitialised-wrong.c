/* C11 6.2.6.1 p5, 7.22.3.4: the cell has no value before it is 1, and a thread that waits may read it before that, even
   if that decides nothing in the end. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int *cell;

void *t(void *unused)
{
    while (atomic_load_explicit(cell, memory_order_acquire) == 5)
        ;
    return 0;
}

int main(void)
{
    pthread_t thread;
    cell = malloc(sizeof *cell);
    pthread_create(&thread, 0, t, 0);
    atomic_store_explicit(cell, 1, memory_order_release);
    pthread_join(thread, 0);
    return 0;
}
