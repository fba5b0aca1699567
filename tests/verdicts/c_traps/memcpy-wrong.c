/* C11 7.24.2.1p2: memcpy reads and writes what it copies: the read of the source races. */
#include <string.h>
#include <pthread.h>

int x[2], y[2];

void *thread(void *unused)
{
    memcpy(y, x, sizeof x);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    x[1] = 1;
    pthread_join(t, 0);
    return 0;
}
