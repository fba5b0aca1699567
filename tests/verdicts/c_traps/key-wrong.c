/* POSIX, pthread_key_create: what destroys the value of a thread reads what another thread writes. */
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int last;

static void end(void *value)
{
    last = *(int *)value;
    free(value);
}

static void *worker(void *argument)
{
    int *number = malloc(sizeof *number);
    *number = 1;
    pthread_setspecific(key, number);
    pthread_exit(0);
}

int main(void)
{
    pthread_t thread;
    pthread_key_create(&key, end);
    pthread_create(&thread, 0, worker, 0);
    last = 2;
    pthread_join(thread, 0);
    return 0;
}
