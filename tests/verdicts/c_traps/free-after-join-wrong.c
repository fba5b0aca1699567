/* C11 6.2.4p2: a block that a thread has given back is used when the thread has ended. */
#include <stdlib.h>
#include <pthread.h>

int *x;

void *thread(void *unused)
{
    free(x);
    return 0;
}

int main(void)
{
    x = calloc(1, sizeof *x);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return *x;
}
