/* The attribute cleanup (GCC) calls a function when a variable goes out of scope: it gives the lock back each time. */
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x;

static void leave(pthread_mutex_t **held)
{
    pthread_mutex_unlock(*held);
}

void *thread(void *unused)
{
    pthread_mutex_lock(&lock);
    __attribute__((cleanup(leave))) pthread_mutex_t *held = &lock;
    (void)held;
    x++;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    thread(0);
    pthread_join(t, 0);
    return x - 2;
}
