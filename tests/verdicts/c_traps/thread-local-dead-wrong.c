/* C17 6.2.4p4: a variable of a thread is used when the thread has ended. */
#include <pthread.h>
#include <stdatomic.h>

_Thread_local int own;
int *_Atomic shared;

void *thread(void *unused)
{
    own = 1;
    atomic_store(&shared, &own);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    *atomic_load(&shared) = 2;
    return 0;
}
