/* POSIX, sem_wait: only a semaphore that sem_init or sem_open has made may be used. */
#include <semaphore.h>

sem_t semaphore;

int main(void)
{
    sem_post(&semaphore);
    sem_wait(&semaphore);
    return 0;
}
