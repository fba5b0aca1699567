/* POSIX, sem_post: what one thread does before it posts is there for the one that has waited. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t semaphore;
int x;

void *writer(void *unused)
{
    x = 1;
    sem_post(&semaphore);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, NULL, writer, NULL);
    sem_wait(&semaphore);
    assert(x == 1);
    pthread_join(thread, NULL);
    sem_destroy(&semaphore);
    return 0;
}
