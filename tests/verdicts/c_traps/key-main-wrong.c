/* POSIX, pthread_exit: main ends alone, so its value is destroyed, and the other thread goes on. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_key_t key;
static atomic_int ended;

static void end(void *value)
{
    atomic_store(&ended, 1);
}

static void *worker(void *unused)
{
    assert(!atomic_load(&ended));
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_key_create(&key, end);
    pthread_setspecific(key, &key);
    pthread_create(&thread, 0, worker, 0);
    pthread_exit(0);
}
