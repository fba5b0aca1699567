/* POSIX, pthread_key_create: what a thread has by a key is destroyed when the thread ends, that of main is not. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int ended[3];

static void end(void *value)
{
    int *number = value;
    assert(pthread_getspecific(key) == NULL);
    ended[*number] = 1;
    free(number);
}

static void *worker(void *argument)
{
    int *number = malloc(sizeof *number);
    *number = (int)(long)argument;
    assert(pthread_getspecific(key) == NULL);
    pthread_setspecific(key, number);
    assert(*(int *)pthread_getspecific(key) == *number);
    return 0;
}

int main(void)
{
    pthread_t one, two;
    pthread_key_create(&key, end);
    pthread_setspecific(key, ended);
    pthread_create(&one, 0, worker, (void *)1);
    pthread_create(&two, 0, worker, (void *)2);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(ended[1] && ended[2]);
    return 0;
}
