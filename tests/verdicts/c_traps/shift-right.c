/* C11 6.5.7p3 and p5: shifts by less than the bits, of negative numbers to the right as all compilers do. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int by = atomic_load(&x);
    assert((1u << by) == 1 || (1u << by) == 1u << 31);
    assert((-16 >> 2) == -4);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 31);
    pthread_join(t, 0);
    return 0;
}
