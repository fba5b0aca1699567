/* POSIX pthread_exit: a thread ends wherever it is, and gives its result. */
#include <assert.h>
#include <pthread.h>

static void leave(void) { pthread_exit((void *)7); }

void *thread(void *unused)
{
    leave();
    return (void *)8;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    void *result;
    pthread_join(t, &result);
    assert(result == (void *)7);
    return 0;
}
