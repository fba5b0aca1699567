/* POSIX, pthread_detach: to detach a thread that is not joinable is undefined. */
#include <pthread.h>

void *worker(void *unused) { return NULL; }

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    pthread_detach(thread);
    return 0;
}
