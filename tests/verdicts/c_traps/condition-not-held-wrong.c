/* POSIX pthread_cond_wait: the mutex has to be held by the thread that waits. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

int main(void)
{
    pthread_cond_wait(&changed, &lock);
    return 0;
}
