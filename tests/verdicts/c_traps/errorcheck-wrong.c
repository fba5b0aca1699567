/* POSIX, pthread_mutex_unlock: who may not give back a mutex that checks is told, and the other one has it still. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int data;

static void *worker(void *unused)
{
    if (pthread_mutex_unlock(&mutex) != 0)
        data++;
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&thread, 0, worker, 0);
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
