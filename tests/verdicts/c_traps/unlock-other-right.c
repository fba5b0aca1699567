/* A semaphore may be posted by another thread than the one that waits for it. */
#include <semaphore.h>
#include <pthread.h>

sem_t signal;
int x;

void *thread(void *unused)
{
    x = 1;
    sem_post(&signal);
    return 0;
}

int main(void)
{
    sem_init(&signal, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    sem_wait(&signal);
    x++;
    pthread_join(t, 0);
    return x - 2;
}
