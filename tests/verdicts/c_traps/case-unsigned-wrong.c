/* C11 6.8.4.2p5: a case is converted to the promoted type of the switch: -1 is 4294967295, which the thread reads. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_uint x;

void *thread(void *unused)
{
    switch (atomic_load(&x)) {
    case -1:
        assert(0);
    }
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 4294967295u);
    pthread_join(t, 0);
    return 0;
}
