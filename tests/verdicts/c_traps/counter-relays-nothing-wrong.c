/* C11 5.1.2.4: a counter that is relaxed tells who came second, but not what the first has written before. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, count;

void *t(void *unused)
{
    x = 1;
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, t, 0);
    int before = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    int seen = x;
    assert(!(before == 1 && seen == 0));
    pthread_join(thread, 0);
    return 0;
}
