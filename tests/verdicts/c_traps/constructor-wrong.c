/* The attribute constructor (GCC) calls a function before main: what it writes fails the assertion. */
#include <assert.h>
#include <pthread.h>

int x;

__attribute__((constructor)) static void before(void)
{
    x = 1;
}

void *thread(void *unused)
{
    assert(x == 0);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
