/* C11 6.8.4.2p7: behind a case the next one is done where no break is. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int found = 0;
    switch (atomic_load(&x)) {
    case 1:
        found += 1;
    case 2:
        found += 2;
        break;
    default:
        found = 3;
    }
    assert(found != 3 || atomic_load(&x) == 0);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 1);
    pthread_join(t, 0);
    return 0;
}
