/* The attribute vector_size (GCC): a sum of vectors is one of their elements. */
#include <assert.h>
#include <pthread.h>

typedef int four __attribute__((vector_size(16)));
four one = {1, 2, 3, 4}, sum;

void *thread(void *unused)
{
    sum = one + one;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    assert(sum[2] == 3);
    return 0;
}
