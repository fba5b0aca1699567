/* A block is lost where a flag is not seen. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *shared;
static atomic_int ready;

static void *thread(void *unused)
{
    if (atomic_load_explicit(&ready, memory_order_acquire))
        free(shared);
    else
        atomic_store_explicit(&ready, 2, memory_order_release);
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    int *block = malloc(sizeof *block);
    shared = block;
    int before = atomic_exchange_explicit(&ready, 1, memory_order_acq_rel);
    pthread_join(id, 0);
    shared = 0;
    return 0;
}
