/* C11 6.5.6p8 and J.2: a subscript is out of range even if memory of the same object is there: of the inner array. */
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
    atomic_store(&which, 2);
    pthread_join(t, 0);
    return 0;
}
