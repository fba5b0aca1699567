/* POSIX, pthread_mutex_init: to initialise a mutex that is initialised is undefined. */
#include <pthread.h>

pthread_mutex_t mutex;

int main(void)
{
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_init(&mutex, NULL);
    return 0;
}
