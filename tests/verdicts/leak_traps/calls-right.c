/* C11 7.22.4.4: a variable of main leads to two blocks where another function ends the program. */
#include <pthread.h>
#include <stdlib.h>

struct node { struct node *next; };

static void *thread(void *unused) { return unused; }

static void stop(void)
{
    exit(0);
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    struct node *node = malloc(sizeof *node);
    node->next = malloc(sizeof *node);
    node->next->next = 0;
    stop();
    return 0;
}
