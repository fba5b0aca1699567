/* C11 7.21.6.5: the text of a number that another thread decides is not understood. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int shared;
static char text[8];

static void *worker(void *unused)
{
    snprintf(text, sizeof text, "%d", atomic_load(&shared));
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&shared, 12);
    pthread_join(thread, 0);
    return 0;
}
