/* C11 6.8.4.2p5: a case is converted to the promoted type of the switch: of a byte without sign, int, so that no value
   is -1. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

_Atomic unsigned char x;

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
    atomic_store(&x, 255);
    pthread_join(t, 0);
    return 0;
}
