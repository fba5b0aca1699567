/* C11 7.22.2.1: another thread asks for a number that rand has given. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int shared = 1;

static void *worker(void *unused)
{
    assert(atomic_load(&shared) != 7);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&shared, rand());
    pthread_join(thread, 0);
    return 0;
}
