/* POSIX, pthread_cond_destroy: a condition variable may be destroyed as soon as all who wait for it are woken. */
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int waits;

void *waiter(void *unused)
{
    pthread_mutex_lock(&mutex);
    waits = 1;
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    pthread_mutex_lock(&mutex);
    int waited = waits;
    if (waited) {
        pthread_cond_broadcast(&condition);
        pthread_cond_destroy(&condition);
    }
    pthread_mutex_unlock(&mutex);
    if (waited)
        pthread_join(thread, NULL);
    return 0;
}
