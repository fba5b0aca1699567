/* C11 6.5.6p8: another thread decides that what is read is behind the last element of a constant array. */
#include <pthread.h>
#include <stdatomic.h>

static const char *const names[] = {"zero", "one"};
static atomic_int shared;
char first;

static void *worker(void *unused)
{
    first = names[atomic_load(&shared)][0];
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&shared, 2);
    pthread_join(thread, 0);
    return 0;
}
