/* C11 7.22.4.4: main has lost what it has taken, and a variable has a number of which nothing tells what it is. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) shared;
static atomic_long number;

static void *thread(void *unused)
{
    atomic_store(&number, 1);
    atomic_store(&shared, malloc(sizeof(int)));
    return 0;
}

static void take(void)
{
    int *taken = atomic_exchange(&shared, 0);
    *taken = 1;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    take();
    long seen = atomic_load(&number);
    exit(seen == 2);
}
