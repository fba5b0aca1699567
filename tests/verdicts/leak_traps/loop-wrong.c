/* The last block that a loop makes is not given back. */
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *unused)
{
    int *block = 0;
    for (int i = 0; i < 3; i++) {
        free(block);
        block = malloc(sizeof *block);
        *block = i;
    }
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    return 0;
}
