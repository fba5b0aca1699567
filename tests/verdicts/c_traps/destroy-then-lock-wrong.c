/* POSIX pthread_mutex_destroy: a mutex that is destroyed may not be locked. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
    pthread_mutex_destroy(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}
