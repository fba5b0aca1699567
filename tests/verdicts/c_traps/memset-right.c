/* C11 7.24.6.1p2: memset writes the lowest byte of its number so many times. */
#include <assert.h>
#include <string.h>
#include <pthread.h>

int x[2];

void *thread(void *unused)
{
    memset(x, 0x101, sizeof x);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    assert(x[1] == 0x01010101);
    return 0;
}
