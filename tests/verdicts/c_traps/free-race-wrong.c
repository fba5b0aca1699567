/* C11 7.22.3p2: to give a block back races with a use of it by another thread. */
#include <stdlib.h>
#include <pthread.h>

int *x;

void *thread(void *unused)
{
    *x = 1;
    return 0;
}

int main(void)
{
    x = calloc(1, sizeof *x);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    free(x);
    pthread_join(t, 0);
    return 0;
}
