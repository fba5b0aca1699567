/* C11 5.1.1.2p1: lines are joined at a backslash before comments are found: no lock is taken here. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x;

void *thread(void *unused)
{
    // the path is C:\temp\
    pthread_mutex_lock(&lock);
    x++;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
