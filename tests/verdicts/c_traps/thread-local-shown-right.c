/* C11 6.2.4p4: a variable of a thread is there until the thread ends, for others too, and its life ends once. */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) place;
static atomic_int done;
static _Thread_local int own;

static void *thread(void *unused)
{
    atomic_store(&place, &own);
    while (!atomic_load(&done)) { }
    return 0;
}

int main(void)
{
    pthread_t id;
    int *others;
    pthread_create(&id, 0, thread, 0);
    while (!(others = atomic_load(&place))) { }
    *others = 1;
    atomic_store(&done, 1);
    pthread_join(id, 0);
    return 0;
}
