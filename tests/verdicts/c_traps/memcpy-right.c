/* C11 7.24.2.1p2: memcpy copies so many bytes and no more. */
#include <assert.h>
#include <string.h>
#include <pthread.h>

int x[2] = {1, 2}, y[2];

void *thread(void *unused)
{
    memcpy(y, x, sizeof *x);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    y[1] = 3;
    pthread_join(t, 0);
    assert(y[0] == 1 && y[1] == 3);
    return 0;
}
