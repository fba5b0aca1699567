/* A ticket lock that is given back without a release: the next owner may not see what this one wrote. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define THREADS 3

struct ticket_lock {
    atomic_uint next;
    atomic_uint serving;
};

static struct ticket_lock lock = {0, 0};
static int count;

static void acquire(struct ticket_lock *l)
{
    unsigned ticket = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != ticket)
        ;
}

static void release(struct ticket_lock *l)
{
    unsigned ticket = atomic_load_explicit(&l->serving, memory_order_relaxed);
    atomic_store_explicit(&l->serving, ticket + 1, memory_order_relaxed);
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
