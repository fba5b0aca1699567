/* C11 6.7.3p7: to evaluate an expression that is a volatile object is an access, and volatile is not atomic. */
#include <pthread.h>

volatile int x;

void *thread(void *unused)
{
    x = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    x;
    pthread_join(t, 0);
    return 0;
}
