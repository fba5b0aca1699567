/* POSIX pthread_cond_wait: what is waited for is asked again, for a wait may end without a signal. */
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, x;

void *thread(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 1;
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
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    assert(x == 1);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
