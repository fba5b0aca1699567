/* A function is called by its address, which another thread has written: both leave their number. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

int x;
static void one(void) { x = 1; }
static void two(void) { x = 2; }
void (*_Atomic routine)(void) = one;

void *thread(void *unused)
{
    atomic_load(&routine)();
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&routine, two);
    pthread_join(t, 0);
    assert(x == 1 || x == 2);
    return 0;
}
