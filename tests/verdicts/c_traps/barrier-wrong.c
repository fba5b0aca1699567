/* POSIX pthread_barrier_wait: threads are between two phases, of which the second writes what the first still reads. */
#include <pthread.h>

pthread_barrier_t barrier;
int x;

void *thread(void *unused)
{
    pthread_barrier_wait(&barrier);
    x = 1;
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
    return found & 2;
}
