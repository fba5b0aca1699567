/* C11 6.7.1p3: each thread has its own, whose address it may give to others, which then race. */
#include <stdatomic.h>
#include <pthread.h>

_Thread_local int x = 1;
int *_Atomic where;

void *thread(void *unused)
{
    int *here = atomic_load(&where);
    if (here)
        *here = 3;
    return 0;
}

int main(void)
{
    atomic_store(&where, &x);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    x = 2;
    pthread_join(t, 0);
    return 0;
}
