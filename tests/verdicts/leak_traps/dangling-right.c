/* What a block that is given back has led to is given back before it. */
#include <pthread.h>
#include <stdlib.h>

struct node { struct node *next; };
static struct node *head;

static void *thread(void *unused)
{
    struct node *node = malloc(sizeof *node);
    node->next = malloc(sizeof *node);
    head = node;
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    free(head->next);
    free(head);
    return 0;
}
