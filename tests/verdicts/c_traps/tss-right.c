/* C11 7.26.6: each thread has its own value, which is destroyed. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>

static tss_t key;
static atomic_int ended;

static void end(void *value)
{
    atomic_fetch_add(&ended, 1);
    free(value);
}

static int worker(void *unused)
{
    tss_set(key, malloc(1));
    return tss_get(key) == NULL;
}

int main(void)
{
    thrd_t one, two;
    int first;
    tss_create(&key, end);
    thrd_create(&one, worker, 0);
    thrd_create(&two, worker, 0);
    thrd_join(one, &first);
    thrd_join(two, 0);
    assert(first == 0 && ended == 2);
    return 0;
}
