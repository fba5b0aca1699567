/* The queue of Michael and Scott, with a node that has its value only when it is in the queue already. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct node {
    int value;
    _Atomic(struct node *) next;
} node;

typedef struct {
    _Atomic(node *) head;
    _Atomic(node *) tail;
} queue;

static queue q;

static void init(void)
{
    node *dummy = malloc(sizeof(node));
    atomic_init(&dummy->next, NULL);
    atomic_init(&q.head, dummy);
    atomic_init(&q.tail, dummy);
}

static void enqueue(int value)
{
    node *n = malloc(sizeof(node));
    atomic_init(&n->next, NULL);
    for (;;) {
        node *tail = atomic_load_explicit(&q.tail, memory_order_acquire);
        node *next = atomic_load_explicit(&tail->next, memory_order_acquire);
        if (next == NULL) {
            if (atomic_compare_exchange_strong_explicit(&tail->next, &next, n, memory_order_release,
                                                        memory_order_relaxed)) {
                n->value = value;
                atomic_compare_exchange_strong_explicit(&q.tail, &tail, n, memory_order_release, memory_order_relaxed);
                return;
            }
        } else {
            atomic_compare_exchange_strong_explicit(&q.tail, &tail, next, memory_order_release, memory_order_relaxed);
        }
    }
}

static bool dequeue(int *value)
{
    for (;;) {
        node *head = atomic_load_explicit(&q.head, memory_order_acquire);
        node *next = atomic_load_explicit(&head->next, memory_order_acquire);
        if (next == NULL)
            return false;
        if (atomic_compare_exchange_strong_explicit(&q.head, &head, next, memory_order_release, memory_order_relaxed)) {
            *value = next->value;
            return true;
        }
    }
}

static void *producer(void *argument)
{
    enqueue(5);
    return NULL;
}

static void *consumer(void *argument)
{
    int value;
    if (dequeue(&value))
        assert(value == 5);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    init();
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
