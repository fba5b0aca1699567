/* The built-in functions of GCC: __sync_fetch_and_add and the like, which are of all orders. */
#include <assert.h>
#include <pthread.h>

int x = 12;

void *thread(void *unused)
{
    assert(__sync_fetch_and_add(&x, 9) == 12 && x == 21);
    assert(__sync_bool_compare_and_swap(&x, 21, 5) && __sync_val_compare_and_swap(&x, 4, 6) == 5);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
