/* A block is given back before what points to it points to another one, which is there at the end. */
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void *thread(void *unused)
{
    free(shared);
    shared = malloc(sizeof *shared);
    *shared = 2;
    return 0;
}

int main(void)
{
    pthread_t id;
    shared = malloc(sizeof *shared);
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    return *shared - 2;
}
