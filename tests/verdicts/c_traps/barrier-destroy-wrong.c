/* POSIX, pthread_barrier_destroy: to destroy a barrier that a thread waits at is undefined. */
#include <pthread.h>

pthread_barrier_t barrier;

void *waiter(void *unused)
{
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, waiter, NULL);
    pthread_barrier_destroy(&barrier);
    pthread_join(thread, NULL);
    return 0;
}
