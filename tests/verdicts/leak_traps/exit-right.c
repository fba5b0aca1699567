/* C11 7.22.4.4: a global variable points to a block where the program is ended. */
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void *thread(void *unused)
{
    shared = malloc(sizeof *shared);
    *shared = 1;
    return 0;
}

static void stop(void)
{
    exit(0);
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    stop();
    return 0;
}
