/* POSIX pthread_barrier_wait: what is before it happens before what is behind it. */
#include <pthread.h>

pthread_barrier_t barrier;
int x;

void *thread(void *unused)
{
    x = 1;
    pthread_barrier_wait(&barrier);
    return 0;
}

int main(void)
{
    pthread_barrier_init(&barrier, 0, 2);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_barrier_wait(&barrier);
    int found = x;
    pthread_join(t, 0);
    return found - 1;
}
