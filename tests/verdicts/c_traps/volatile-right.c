/* C11 6.7.3p7: to evaluate an expression that is a volatile object is an access; this one is before the other thread. */
#include <pthread.h>

volatile int x;

void *thread(void *unused)
{
    x = 1;
    return 0;
}

int main(void)
{
    x;
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    (void)&x;
    pthread_join(t, 0);
    return 0;
}
