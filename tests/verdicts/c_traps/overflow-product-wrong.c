/* C11 6.5p5: the product of two numbers that are read. */
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;
int result;

void *thread(void *unused)
{
    int one = atomic_load(&x);
    result = one * one;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 65536);
    pthread_join(t, 0);
    return 0;
}
