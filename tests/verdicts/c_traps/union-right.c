/* C11 6.5.2.3p3 with footnote 95: a member is read as the bytes of the one that was written, the lowest first on x86. */
#include <assert.h>
#include <pthread.h>

union { int number; unsigned char bytes[4]; } both;

void *thread(void *unused)
{
    both.bytes[1] = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    assert(both.number == 256);
    return 0;
}
