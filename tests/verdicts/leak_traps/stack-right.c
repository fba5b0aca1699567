/* Each node that is taken from a stack is given back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { struct node *next; };
static _Atomic(struct node *) top;

static void *pusher(void *unused)
{
    struct node *node = malloc(sizeof *node);
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &node->next, node)) { }
    return 0;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, pusher, 0);
    pthread_create(&other, 0, pusher, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    struct node *node = atomic_exchange(&top, 0);
    while (node) {
        struct node *next = node->next;
        if (node)
            free(node);
        node = next;
    }
    return 0;
}
