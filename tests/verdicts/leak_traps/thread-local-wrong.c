/* A variable of a thread points to a block, and ends with it. */
#include <pthread.h>
#include <stdlib.h>

static _Thread_local int *own;

static void *nothing(void *unused) { return unused; }

static void *thread(void *unused)
{
    own = malloc(sizeof *own);
    *own = 1;
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    thread(0);
    return 0;
}
