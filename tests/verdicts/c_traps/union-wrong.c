/* C11 6.7.2.1p16: the members of a union are in one place: the write of one races with the read of another. */
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
    int found = both.number;
    pthread_join(t, 0);
    return found & 1;
}
