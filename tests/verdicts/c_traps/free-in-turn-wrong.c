/* C11 6.2.4 p2: the lock orders the read and the free, but not which comes first. */
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock;
int *cell;

void *t(void *unused)
{
    pthread_mutex_lock(&lock);
    free(cell);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t thread;
    cell = malloc(sizeof *cell);
    *cell = 0;
    pthread_create(&thread, 0, t, 0);
    pthread_mutex_lock(&lock);
    int seen = *cell;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return seen;
}
