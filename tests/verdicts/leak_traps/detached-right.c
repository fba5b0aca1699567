/* A thread that nobody waits for gives its block back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *thread(void *unused)
{
    int *block = malloc(sizeof *block);
    *block = 1;
    free(block);
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_detach(id);
    return 0;
}
