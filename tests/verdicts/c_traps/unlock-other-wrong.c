/* POSIX pthread_mutex_unlock, C11 7.26.4.6p2: the thread that unlocks a mutex has to be the one that holds it. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *unused)
{
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_mutex_lock(&lock);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
