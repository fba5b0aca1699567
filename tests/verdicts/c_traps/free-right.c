/* C11 7.22.3.3p2: null may be given back, and each block once. */
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
    pthread_join(t, 0);
    free(x);
    free(0);
    return 0;
}
