/* C11 7.2.1.1: an assertion fails beside a thread that takes the lock again and again, for a value that nobody gives. */
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock;
int done;

void *t(void *unused)
{
    int seen = 0;
    while (!seen) {
        pthread_mutex_lock(&lock);
        seen = done == 2;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

void *u(void *unused)
{
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    assert(0);
    return 0;
}

int main(void)
{
    pthread_t waits, fails;
    pthread_create(&waits, 0, t, 0);
    pthread_create(&fails, 0, u, 0);
    pthread_join(waits, 0);
    return 0;
}
