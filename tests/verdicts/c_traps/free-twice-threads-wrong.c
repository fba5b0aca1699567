/* C11 7.22.3.3p2: a block is given back by two threads. */
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
    x = malloc(4);
    pthread_t t, u;
    pthread_create(&t, 0, thread, 0);
    pthread_create(&u, 0, thread, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
