/* C11 7.22.4.2: what is left to be done at exit gives a block back. */
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void at_end(void)
{
    free(shared);
    shared = 0;
}

static void *thread(void *unused)
{
    *shared = 1;
    return 0;
}

int main(void)
{
    pthread_t id;
    atexit(at_end);
    shared = malloc(sizeof *shared);
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    return 0;
}
