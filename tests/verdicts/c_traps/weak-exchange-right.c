/* C11 7.17.7.4p4: a weak exchange in a loop, whose failure leaves what was read as expected. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int expected = atomic_load(&x);
    while (!atomic_compare_exchange_weak(&x, &expected, expected + 1)) { }
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    assert(atomic_load(&x) == 1);
    return 0;
}
