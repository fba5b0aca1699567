/* C11 6.5p5: the sum of an int that is read from two shorts, and 1. */
#include <pthread.h>
#include <stdatomic.h>

union { struct { short low, high; } halves; int whole; } number;
atomic_int ready, sum;

void *thread(void *unused)
{
    number.halves.low = -1;
    number.halves.high = 0x7ff;
    atomic_store(&ready, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    if (atomic_load(&ready))
        atomic_store(&sum, number.whole + 1);
    pthread_join(t, NULL);
    return 0;
}
