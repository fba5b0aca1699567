/* Who joins a thread gives back what it returns. */
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *unused)
{
    int *block = malloc(sizeof *block);
    *block = 1;
    return block;
}

int main(void)
{
    pthread_t id;
    void *result;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, &result);
    free(result);
    return 0;
}
