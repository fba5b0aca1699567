/* Of two threads that make what there is to be once, one gives its own back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) once;

static int *get(void)
{
    int *found = atomic_load(&once);
    if (found)
        return found;
    int *made = malloc(sizeof *made);
    *made = 1;
    if (atomic_compare_exchange_strong(&once, &found, made))
        return made;
    free(made);
    return found;
}

static void *thread(void *unused)
{
    return (void *)(long)*get();
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&other, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
