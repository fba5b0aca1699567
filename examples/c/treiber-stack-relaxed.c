/* Treiber's stack, onto which nodes are pushed without a release: who pops one may find it empty. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct stack {
    _Atomic(struct node *) head;
};

static void push(struct stack *s, int value)
{
    struct node *n = malloc(sizeof *n);
    n->value = value;
    n->next = atomic_load_explicit(&s->head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&s->head, &n->next, n, memory_order_relaxed, memory_order_relaxed))
        ;
}

static bool pop(struct stack *s, int *value)
{
    struct node *head = atomic_load_explicit(&s->head, memory_order_acquire);
    do {
        if (head == NULL)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&s->head, &head, head->next, memory_order_acquire,
                                                    memory_order_acquire));
    *value = head->value;
    return true;
}

static void *pusher(void *argument)
{
    push(argument, 1);
    return NULL;
}

static void *popper(void *argument)
{
    int value = 1;
    pop(argument, &value);
    assert(value == 1);
    return NULL;
}

int main(void)
{
    struct stack *s = calloc(1, sizeof *s);
    pthread_t a, b;
    pthread_create(&a, NULL, pusher, s);
    pthread_create(&b, NULL, popper, s);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
