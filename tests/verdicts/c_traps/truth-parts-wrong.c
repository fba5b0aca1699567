/* C11 6.3.1.1p2: a truth value of another thread may be 1 as a long, and its lowest byte is 1 then. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic _Bool flag;
union { unsigned long whole; unsigned char bytes[8]; } seen;

static void *worker(void *unused)
{
    _Bool now = atomic_load(&flag);
    seen.whole = now;
    seen.bytes[5] = !now;
    assert(seen.bytes[0] + seen.bytes[5] == 2 || seen.bytes[1] == 1);
    double real = now;
    assert(real == 0);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&flag, 1);
    pthread_join(thread, 0);
    return 0;
}
