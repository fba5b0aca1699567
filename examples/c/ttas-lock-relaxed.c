/* A test-and-test-and-set lock that is taken without an acquire: what the last owner wrote may not be seen. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define THREADS 3

typedef struct {
    atomic_bool taken;
} ttas_lock;

static ttas_lock lock;
static int count;

static void acquire(ttas_lock *l)
{
    for (;;) {
        while (atomic_load_explicit(&l->taken, memory_order_relaxed))
            ;
        if (!atomic_exchange_explicit(&l->taken, true, memory_order_relaxed))
            return;
    }
}

static void release(ttas_lock *l)
{
    atomic_store_explicit(&l->taken, false, memory_order_release);
}

static void *worker(void *argument)
{
    acquire(&lock);
    count++;
    release(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(count == THREADS);
    return 0;
}
