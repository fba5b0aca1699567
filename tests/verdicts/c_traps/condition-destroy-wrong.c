/* POSIX, pthread_cond_destroy: to destroy a condition variable that a thread waits for is undefined. */
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

void *waiter(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    pthread_cond_destroy(&condition);
    pthread_join(thread, NULL);
    return 0;
}
