/* C11 6.5.2.1: which element of a constant array is read, another thread decides. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static const short squares[2][3] = {{0, 1, 4}, {9, 16, 25}};
static atomic_int shared;

static void *worker(void *unused)
{
    int index = atomic_load(&shared);
    int found = squares[index / 3][index % 3];
    assert(found == 0 || found == 16);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&shared, 4);
    pthread_join(thread, 0);
    return 0;
}
