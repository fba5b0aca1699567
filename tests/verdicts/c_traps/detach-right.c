/* POSIX, pthread_detach: a thread may detach itself; nobody joins it. */
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
    return 0;
}
