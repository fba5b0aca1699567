/* C11 7.17.7.4p4: a weak exchange may fail though the value is the expected one. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int expected = 0;
    assert(atomic_compare_exchange_weak(&x, &expected, 1));
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
