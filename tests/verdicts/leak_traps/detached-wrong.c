/* A thread that nobody waits for loses its block, where it ends before the program. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *thread(void *unused)
{
    int *block = malloc(sizeof *block);
    *block = 1;
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_detach(id);
    return 0;
}
