/* C11 6.2.6.1p6: bytes of padding have no value, and copying them is nothing. */
#include <string.h>
#include <pthread.h>

struct padded { char tag; int value; } shared;

void *thread(void *unused)
{
    struct padded own;
    own.tag = 1;
    own.value = 2;
    memcpy(&shared, &own, sizeof own);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return shared.tag + shared.value - 3;
}
