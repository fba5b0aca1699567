/* POSIX, pthread_mutex_lock: a recursive mutex is given back as often as it was taken. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int data;

static void add(int depth)
{
    pthread_mutex_lock(&mutex);
    data++;
    if (depth)
        add(depth - 1);
    pthread_mutex_unlock(&mutex);
}

static void *worker(void *unused)
{
    add(1);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_create(&thread, 0, worker, 0);
    add(1);
    pthread_join(thread, 0);
    assert(data == 4);
    pthread_mutex_destroy(&mutex);
    return 0;
}
