/* POSIX, pthread_join: to join a thread that another one has joined is undefined. */
#include <pthread.h>

pthread_t first;

void *worker(void *unused) { return NULL; }

void *joiner(void *unused)
{
    pthread_join(first, NULL);
    return NULL;
}

int main(void)
{
    pthread_t second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, joiner, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
