/* A ring buffer whose consumer gives a place back before it has read it: the producer may write there again. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SIZE 2
#define ITEMS 3

struct ring {
    atomic_size_t head, tail;
    int items[SIZE];
};

static struct ring ring;

static bool put(struct ring *r, int item)
{
    size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&r->head, memory_order_acquire) == SIZE)
        return false;
    r->items[tail % SIZE] = item;
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return true;
}

static bool get(struct ring *r, int *item)
{
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (atomic_load_explicit(&r->tail, memory_order_acquire) == head)
        return false;
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    *item = r->items[head % SIZE];
    return true;
}

static void *producer(void *argument)
{
    for (int i = 1; i <= ITEMS; i++)
        while (!put(&ring, i))
            ;
    return NULL;
}

static void *consumer(void *argument)
{
    for (int i = 1; i <= ITEMS; i++) {
        int item;
        while (!get(&ring, &item))
            ;
        assert(item == i);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
