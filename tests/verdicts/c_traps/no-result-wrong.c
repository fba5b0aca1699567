/* C17 6.9.1p12: what a function gives is used that has come to its end without a return. */
#include <pthread.h>
#include <stdatomic.h>

static int sign(int number)
{
    if (number > 0)
        return 1;
}

atomic_int x, result;

void *thread(void *unused)
{
    atomic_store(&x, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int number = atomic_load(&x);
    atomic_store(&result, sign(number));
    pthread_join(t, NULL);
    return 0;
}
