/* A sequence lock whose reader has no fence before it reads the sequence again: the data may be read after that. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct seqlock {
    atomic_uint sequence;
    atomic_int x, y;
};

static struct seqlock shared;

static void write_pair(struct seqlock *s, int value)
{
    unsigned before = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    atomic_store_explicit(&s->sequence, before + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&s->x, value, memory_order_relaxed);
    atomic_store_explicit(&s->y, value, memory_order_relaxed);
    atomic_store_explicit(&s->sequence, before + 2, memory_order_release);
}

static void read_pair(struct seqlock *s, int *x, int *y)
{
    unsigned before, after;
    do {
        before = atomic_load_explicit(&s->sequence, memory_order_acquire);
        *x = atomic_load_explicit(&s->x, memory_order_relaxed);
        *y = atomic_load_explicit(&s->y, memory_order_relaxed);
        after = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    } while (before != after || before % 2);
}

static void *writer(void *argument)
{
    write_pair(&shared, 7);
    return NULL;
}

static void *reader(void *argument)
{
    int x, y;
    read_pair(&shared, &x, &y);
    assert(x == y);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
