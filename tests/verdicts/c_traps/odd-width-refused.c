/* C23 6.2.5p6: a number of 7 bits that another thread decides is not understood yet. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int shared;
int result;

static void *worker(void *unused)
{
    _BitInt(7) small = atomic_load(&shared);
    result = small < 3;
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&shared, 9);
    pthread_join(thread, 0);
    return 0;
}
