/* C11 7.22.2.1: the largest sum of what rand gives comes. */
#include <assert.h>
#include <stdlib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int sum;

static void *worker(void *unused)
{
    atomic_fetch_add(&sum, rand() % 3);
    return 0;
}

int main(void)
{
    pthread_t thread;
    srand((unsigned)time(NULL));
    pthread_create(&thread, 0, worker, 0);
    if (rand() & 1)
        atomic_fetch_add(&sum, 4);
    pthread_join(thread, 0);
    assert(sum >= 0 && sum <= 6 && sum != 6);
    printf("%d at %ld\n", rand(), (long)clock());
    return 0;
}
