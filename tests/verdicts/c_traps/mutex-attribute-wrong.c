/* POSIX, pthread_mutexattr_settype: a mutex is made by attributes that were never initialised. */
#include <pthread.h>

static pthread_mutex_t mutex;

int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    return 0;
}
