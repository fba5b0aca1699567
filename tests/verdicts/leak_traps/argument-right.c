/* A thread gives back the block that it is given. */
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *argument)
{
    ++*(int *)argument;
    free(argument);
    return 0;
}

int main(void)
{
    pthread_t id;
    int *block = calloc(1, sizeof *block);
    pthread_create(&id, 0, thread, block);
    pthread_join(id, 0);
    return 0;
}
