/* C11 7.17.7.5: two threads add, and each sum is seen once. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

_Atomic short x = 32767;

void *thread(void *unused)
{
    short sum = ++x;
    assert(sum < 0 && sum != -32767);
    return 0;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, thread, 0);
    pthread_create(&u, 0, thread, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
