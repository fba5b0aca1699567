/* C11 6.5.5p6: the least int divided by -1 is none. */
#include <limits.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int x = 1;
int y;

void *thread(void *unused)
{
    y = INT_MIN / atomic_load(&x);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&x, -1);
    pthread_join(t, 0);
    return 0;
}
