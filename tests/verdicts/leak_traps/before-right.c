/* What main makes before there are threads a global variable points to. */
#include <pthread.h>
#include <stdlib.h>

static int *shared, count;

static void *thread(void *unused)
{
    count++;
    return 0;
}

int main(void)
{
    pthread_t id;
    int *block = malloc(sizeof *block);
    *block = 1;
    shared = block;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    return 0;
}
