/* What points to a block points to another one. */
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void *thread(void *unused)
{
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
