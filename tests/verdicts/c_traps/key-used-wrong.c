/* POSIX, pthread_key_create: the value is used that was destroyed at the end of its thread. */
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int *shared;

static void *worker(void *argument)
{
    shared = malloc(sizeof *shared);
    *shared = 1;
    pthread_setspecific(key, shared);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_key_create(&key, free);
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return *shared - 1;
}
