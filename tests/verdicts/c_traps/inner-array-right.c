/* C11 6.5.6p8: the subscript is within the inner array, for all values that are read. */
#include <stdatomic.h>
#include <pthread.h>

struct { int first[2]; int second[2]; } both;
atomic_int which;

void *thread(void *unused)
{
    both.first[atomic_load(&which)] = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&which, 1);
    pthread_join(t, 0);
    return 0;
}
