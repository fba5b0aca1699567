/* A function is called by its address, which another thread has written: the call reaches the assertion. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

static void good(void) { }
static void bad(void)
{
    assert(0);
}
void (*_Atomic routine)(void) = good;

void *thread(void *unused)
{
    atomic_load(&routine)();
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&routine, bad);
    pthread_join(t, 0);
    return 0;
}
