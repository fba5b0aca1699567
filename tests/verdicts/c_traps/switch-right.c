/* GNU C: ranges of cases; C11 6.8.4.2p7: default may be first. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    switch (atomic_load(&x)) {
    default:
        assert(0);
    case -3 ... 0:
        break;
    case 7:
        assert(atomic_load(&x) == 7);
    }
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 7);
    pthread_join(t, 0);
    return 0;
}
