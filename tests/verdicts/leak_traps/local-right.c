/* C11 7.22.3: a block that a variable of a function has is given back. */
#include <pthread.h>
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
    pthread_join(id, 0);
    return 0;
}
