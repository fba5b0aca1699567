/* The attribute constructor (GCC) calls functions before main, the one with the lower priority first. */
#include <assert.h>
#include <pthread.h>

int x;

__attribute__((constructor(201))) static void second(void)
{
    x = 2 * x;
}

__attribute__((constructor(200))) static void first(void)
{
    x = 3;
}

void *thread(void *unused)
{
    assert(x == 6);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
