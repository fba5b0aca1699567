/* Words of verifiers: a number that nothing tells, of which only the remainder is asked; without its sign one is missed. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

int __VERIFIER_nondet_int(void);
unsigned long __VERIFIER_nondet_ulong(void);
static atomic_int shared;

static void *worker(void *unused)
{
    if (__VERIFIER_nondet_int())
        shared = __VERIFIER_nondet_int() % 2;
    else
        shared = 5 + __VERIFIER_nondet_ulong() % 2;
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    int now = shared;
    assert(now == 0 || now == 1 || now == 5 || now == 6);
    return 0;
}
