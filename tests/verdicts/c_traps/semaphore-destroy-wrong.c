/* POSIX, sem_destroy: to destroy a semaphore that a thread waits for is undefined. */
#include <pthread.h>
#include <semaphore.h>

sem_t semaphore;

void *waiter(void *unused)
{
    sem_wait(&semaphore);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, NULL, waiter, NULL);
    sem_destroy(&semaphore);
    pthread_join(thread, NULL);
    return 0;
}
