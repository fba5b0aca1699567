/* C11 6.8.4.2p2: a case may stand inside a statement of the switch: with 1 the thread jumps into the loop, whose body
   fails the assertion. */
#include <assert.h>
#include <stdatomic.h>
#include <pthread.h>

atomic_int which;

void *thread(void *unused)
{
    int count = 0;
    switch (atomic_load(&which)) {
    case 0:
        while (count < 1) {
        case 1:
            assert(count != 0);
            count += 2;
        }
    }
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
