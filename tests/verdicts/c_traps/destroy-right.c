/* POSIX pthread_mutex_destroy: a mutex may be destroyed that nobody holds, and made anew. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x;

void *thread(void *unused)
{
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    pthread_mutex_destroy(&lock);
    pthread_mutex_init(&lock, 0);
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    return x - 2;
}
