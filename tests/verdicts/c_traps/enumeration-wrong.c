/* C11 6.7.2.2p4: the type of an enumeration with -1 has a sign: what is read is less than 0. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

enum state { BROKEN = -1, IDLE, BUSY };
_Atomic enum state state;

void *thread(void *unused)
{
    assert(atomic_load(&state) >= IDLE);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    atomic_store(&state, BROKEN);
    pthread_join(t, 0);
    return 0;
}
