/* POSIX pthread_mutex_destroy: to destroy a locked mutex is undefined. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_mutex_destroy(&lock);
    pthread_join(t, 0);
    return 0;
}
