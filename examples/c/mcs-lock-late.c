/* The queue lock of Mellor-Crummey and Scott, with a node that is linked before it says that its thread waits: the
   owner may wake the thread before, and then it waits for ever. */
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <threads.h>

#define THREADS 3

struct mcs_node {
    _Atomic(struct mcs_node *) next;
    atomic_int waits;
};

static _Atomic(struct mcs_node *) tail;
static int count;

static void acquire(struct mcs_node *me)
{
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    struct mcs_node *before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
    if (before == NULL)
        return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    atomic_store_explicit(&me->waits, 1, memory_order_relaxed);
    while (atomic_load_explicit(&me->waits, memory_order_acquire))
        ;
}

static void release(struct mcs_node *me)
{
    struct mcs_node *after = atomic_load_explicit(&me->next, memory_order_acquire);
    if (after == NULL) {
        struct mcs_node *expected = me;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release, memory_order_relaxed))
            return;
        while ((after = atomic_load_explicit(&me->next, memory_order_acquire)) == NULL)
            ;
    }
    atomic_store_explicit(&after->waits, 0, memory_order_release);
}

static int worker(void *argument)
{
    struct mcs_node me;
    acquire(&me);
    count++;
    release(&me);
    return 0;
}

int main(void)
{
    thrd_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        thrd_create(&threads[i], worker, NULL);
    for (int i = 0; i < THREADS; i++)
        thrd_join(threads[i], NULL);
    assert(count == THREADS);
    return 0;
}
