/* C11 7.17.7.5: each operation gives the value before; of signed types the sum is that of two's complement. */
#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x = INT_MAX;
_Atomic unsigned char y = 250;
_Atomic long z = 12;

void *thread(void *unused)
{
    assert(atomic_fetch_add(&x, 1) == INT_MAX && atomic_load(&x) == INT_MIN);
    assert(atomic_fetch_add(&y, 10) == 250 && atomic_load(&y) == 4);
    assert(atomic_fetch_and(&z, 10) == 12 && atomic_fetch_or(&z, 1) == 8 && atomic_fetch_xor(&z, 3) == 9);
    assert(atomic_exchange(&z, -1) == 10 && atomic_fetch_sub(&z, 1) == -1 && z == -2);
    z += 5;
    assert(z == 3);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
