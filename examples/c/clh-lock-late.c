/* The queue lock of Craig, Landin and Hagersten, with a node that is in the queue before it says that the lock is
   taken: the next thread may go on at once. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define THREADS 3

typedef struct clh_node {
    atomic_int locked;
} clh_node_t;

typedef struct {
    clh_node_t *_Atomic tail;
} clh_lock_t;

static clh_node_t first;
static clh_node_t nodes[THREADS];
static clh_lock_t lock = {.tail = &first};
static int count;

static clh_node_t *acquire(clh_lock_t *l, clh_node_t *me)
{
    clh_node_t *before = atomic_exchange_explicit(&l->tail, me, memory_order_acq_rel);
    atomic_store_explicit(&me->locked, 1, memory_order_relaxed);
    while (atomic_load_explicit(&before->locked, memory_order_acquire))
        ;
    return before;
}

static void release(clh_node_t *me)
{
    atomic_store_explicit(&me->locked, 0, memory_order_release);
}

static void *worker(void *argument)
{
    clh_node_t *me = argument;
    acquire(&lock, me);
    count++;
    release(me);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, &nodes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(count == THREADS);
    return 0;
}
