/* Words of verifiers: either of two values is chosen before there is another thread, each time anew. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

bool __VERIFIER_nondet_bool(void);
static int data;

static void *worker(void *unused)
{
    assert(data != 2);
    return 0;
}

int main(void)
{
    pthread_t thread;
    if (__VERIFIER_nondet_bool())
        data += 1;
    if (!__VERIFIER_nondet_bool())
        data += 1;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
