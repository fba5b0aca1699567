/* POSIX pthread_once: the routine is done once, before any call returns. */
#include <assert.h>
#include <pthread.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
int x;

static void routine(void) { x++; }

void *thread(void *unused)
{
    pthread_once(&once, routine);
    assert(x == 1);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    thread(0);
    pthread_join(t, 0);
    return 0;
}
