/* POSIX, pthread_join: to join a thread that has detached itself is undefined. */
#include <pthread.h>

void *worker(void *unused)
{
    pthread_detach(pthread_self());
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return 0;
}
