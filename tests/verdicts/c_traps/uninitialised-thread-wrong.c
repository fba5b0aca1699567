/* C11 6.2.4p6: what another thread reads, nobody has written. */
#include <assert.h>
#include <pthread.h>

void *thread(void *argument)
{
    int *pair = argument;
    assert(pair[0] + pair[1] != 7);
    return 0;
}

int main(void)
{
    int pair[2];
    pair[0] = 1;
    pthread_t t;
    pthread_create(&t, 0, thread, pair);
    pthread_join(t, 0);
    return 0;
}
