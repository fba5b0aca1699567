/* POSIX pthread_cond_wait: a wait may end without a signal, and what is waited for is not asked again. */
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

void *thread(void *unused)
{
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_mutex_lock(&lock);
    if (!ready)
        pthread_cond_wait(&changed, &lock);
    assert(ready);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
