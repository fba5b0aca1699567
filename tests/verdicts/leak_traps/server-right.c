/* A thread that never ends has given back what it has had. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int served;
static int *shared;

static void *server(void *unused)
{
    for (;;)
        if (atomic_load(&served) == 1)
            atomic_store(&served, 2);
}

int main(void)
{
    pthread_t id;
    shared = malloc(sizeof *shared);
    pthread_create(&id, 0, server, 0);
    atomic_store(&served, 1);
    free(shared);
    return 0;
}
