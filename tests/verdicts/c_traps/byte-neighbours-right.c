/* C11 3.14p1: two bytes side by side are two memory locations. */
#include <pthread.h>

struct { char one, other; } bytes;

void *thread(void *unused)
{
    bytes.one = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    bytes.other = 2;
    pthread_join(t, 0);
    return bytes.one + bytes.other - 3;
}
