/* Functions in a table that nobody writes, by an index that memory gives. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int (*const table[])(int) = {twice, square};
atomic_int which;

void *thread(void *unused)
{
    int found = table[atomic_load(&which)](3);
    assert(found == 6 || found == 9);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&which, 1);
    pthread_join(t, 0);
    return 0;
}
