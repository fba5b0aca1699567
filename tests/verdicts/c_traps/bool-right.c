/* C11 6.3.1.2: what is converted to _Bool is 0 or 1. */
#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <pthread.h>

atomic_bool x;

void *thread(void *unused)
{
    bool found = atomic_exchange(&x, 2);
    assert(found == 0 || found == 1);
    assert(atomic_load(&x) == 1);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 4);
    pthread_join(t, 0);
    return 0;
}
