/* POSIX pthread_mutex_lock: a thread that locks a mutex which it holds waits for ever. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
