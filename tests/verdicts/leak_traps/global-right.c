/* A global variable points to a block at the end: it is still reachable. */
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void *thread(void *unused)
{
    shared = malloc(sizeof *shared);
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    return 0;
}
