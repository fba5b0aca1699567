/* C11 7.22.4.4: main has taken a block, gives it back, and ends the program. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) shared;

static void *thread(void *unused)
{
    atomic_store(&shared, malloc(sizeof(int)));
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    int *taken = atomic_exchange(&shared, 0);
    free(taken);
    exit(0);
}
