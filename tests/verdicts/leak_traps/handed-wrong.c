/* A block is lost where nobody gets it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) slot;

static void *giver(void *unused)
{
    int *block = malloc(sizeof *block);
    *block = 1;
    atomic_store(&slot, block);
    return 0;
}

static void *taker(void *unused)
{
    free(atomic_exchange(&slot, 0));
    return 0;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, giver, 0);
    pthread_create(&other, 0, taker, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    atomic_store(&slot, 0);
    return 0;
}
