/* POSIX, pthread_mutex_destroy: what is destroyed may be initialised again; a local variable is new in each call. */
#include <pthread.h>
#include <semaphore.h>

pthread_mutex_t mutex;
int count;

static void once(void)
{
    pthread_mutex_t own;
    pthread_mutex_init(&own, NULL);
    pthread_mutex_lock(&own);
    count++;
    pthread_mutex_unlock(&own);
}

void *worker(void *unused)
{
    pthread_mutex_t *own = unused;
    pthread_mutex_lock(own);
    count++;
    pthread_mutex_unlock(own);
    return NULL;
}

static void twice(void)
{
    pthread_t thread;
    pthread_mutex_t own;
    pthread_mutex_init(&own, NULL);
    pthread_create(&thread, NULL, worker, &own);
    pthread_join(thread, NULL);
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        sem_t semaphore;
        sem_init(&semaphore, 0, 1);
        sem_wait(&semaphore);
        pthread_mutex_init(&mutex, NULL);
        pthread_mutex_destroy(&mutex);
    }
    once();
    once();
    twice();
    twice();
    return 0;
}
