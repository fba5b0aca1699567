/* A variable of the first thread points to a block where the program ends. */
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
    pthread_create(&id, 0, nothing, 0);
    pthread_join(id, 0);
    thread(0);
    return 0;
}
