/* C11 7.17.5: an atomic structure of 24 bytes is read and written as a whole, by functions of the library: its members
   are of one write, and the first of them may be that of the start. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

struct three { long a, b, c; };
_Atomic struct three shared;

void *thread(void *unused)
{
    struct three own = {1, 1, 1};
    atomic_store(&shared, own);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    struct three found = atomic_load(&shared);
    assert(found.a == 1);
    pthread_join(t, 0);
    return 0;
}
