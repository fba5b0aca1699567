/* C11 7.22.3.5: what realloc gives is to be given back. */
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *unused)
{
    int *block = malloc(sizeof *block);
    block[0] = 1;
    block = realloc(block, 2 * sizeof *block);
    block[1] = 2;
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    return 0;
}
