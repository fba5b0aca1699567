/* C11 6.7.1p3 and 6.2.4p4: each thread has its own. */
#include <assert.h>
#include <pthread.h>

_Thread_local int x = 1;

void *thread(void *unused)
{
    x++;
    assert(x == 2);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    x--;
    pthread_join(t, 0);
    assert(x == 0);
    return 0;
}
