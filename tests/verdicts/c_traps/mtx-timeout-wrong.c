/* C11 7.26.4.2: who waits until a time may not get the mutex. */
#include <assert.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex;
static int data;

static int worker(void *unused)
{
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    if (mtx_timedlock(&mutex, &until) == thrd_success) {
        mtx_lock(&mutex);
        data++;
        mtx_unlock(&mutex);
        mtx_unlock(&mutex);
    }
    return 0;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&mutex, mtx_timed | mtx_recursive);
    thrd_create(&thread, worker, 0);
    mtx_lock(&mutex);
    assert(mtx_trylock(&mutex) == thrd_success);
    data++;
    mtx_unlock(&mutex);
    mtx_unlock(&mutex);
    thrd_join(thread, 0);
    assert(data == 2);
    mtx_destroy(&mutex);
    return 0;
}
