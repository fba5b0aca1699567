/* Sorensen et al., CONCUR 2018, 3: v waits for what main does when it has joined t, so it ends if each thread that can
   step is fair; under weaker models t need not begin while v waits. */
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t lock;
atomic_int flag;
int data;

void *v(void *unused)
{
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
    while (!flag)
        ;
    return 0;
}

void *t(void *unused)
{
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t waits, counts;
    pthread_create(&waits, 0, v, 0);
    pthread_create(&counts, 0, t, 0);
    pthread_join(counts, 0);
    flag = 1;
    pthread_join(waits, 0);
    return 0;
}
