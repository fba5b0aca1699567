/* POSIX, pthread_mutex_lock: a mutex that checks says what others would not survive. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int data;

static void *worker(void *unused)
{
    assert(pthread_mutex_unlock(&mutex) == EPERM);
    pthread_mutex_lock(&mutex);
    data++;
    assert(pthread_mutex_lock(&mutex) == EDEADLK);
    assert(pthread_mutex_trylock(&mutex) == EBUSY);
    assert(pthread_mutex_unlock(&mutex) == 0);
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
    assert(data == 2);
    return 0;
}
