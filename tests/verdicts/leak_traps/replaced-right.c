/* Who puts a block in place of another one gives that back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) slot;

static void *thread(void *unused)
{
    int *block = malloc(sizeof *block);
    *block = 1;
    free(atomic_exchange(&slot, block));
    return 0;
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
