/* C17 6.5.5p6: the quotient of the least int and 2. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y = 1, result;

void *thread(void *unused)
{
    atomic_store(&x, INT_MIN);
    atomic_store(&y, 2);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int one = atomic_load(&x), other = atomic_load(&y);
    atomic_store(&result, one / other);
    pthread_join(t, NULL);
    return 0;
}
