/* C11 6.5.5p5: a division by 0, which the other thread has not yet written over. */
#include <stdatomic.h>
#include <pthread.h>

atomic_int x;

void *thread(void *unused)
{
    int found = 12 / atomic_load(&x);
    return (void *)(long)found;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, 1);
    pthread_join(t, 0);
    return 0;
}
