/* C11 6.5.5p5: a divisor that is asked before. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int by = atomic_load(&x), found = by ? 12 / by : 0;
    assert(found == 0 || found == 4);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 3);
    pthread_join(t, 0);
    return 0;
}
