/* The built-in functions of GCC and clang: __atomic_fetch_nand, and the greater of two by __atomic_fetch_max of clang. */
#include <assert.h>
#include <pthread.h>

int x = 12;

void *thread(void *unused)
{
    assert(__atomic_fetch_nand(&x, 10, __ATOMIC_SEQ_CST) == 12 && x == ~8);
    assert(__sync_fetch_and_add(&x, 9) == ~8 && x == 0);
    assert(__sync_bool_compare_and_swap(&x, 0, 5) && __sync_val_compare_and_swap(&x, 4, 6) == 5);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
