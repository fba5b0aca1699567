/* Both branches give a block back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int came;

static void *thread(void *unused)
{
    int *block = malloc(sizeof *block);
    if (atomic_fetch_add(&came, 1) == 0)
        free(block);
    else
        free(block);
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
