/* A global variable leads to each node of a list. */
#include <pthread.h>
#include <stdlib.h>

struct node { struct node *next; };
static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *unused)
{
    struct node *node = malloc(sizeof *node);
    pthread_mutex_lock(&lock);
    node->next = head;
    head = node;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&other, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
