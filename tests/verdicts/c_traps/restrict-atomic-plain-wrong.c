/* C11 5.1.2.4p25: an atomic access and one that is not race, though both are of one int. */
#include <stdatomic.h>
#include <pthread.h>

int x;

void *thread(void *unused)
{
    __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    int found = x;
    pthread_join(t, 0);
    return found & 2;
}
