/* C11 6.5.6p8: an address one past the last element may be made and compared, not followed. */
#include <pthread.h>

int numbers[4], x;

void *thread(void *unused)
{
    for (int *here = numbers; here != numbers + 4; here++)
        x += *here;
    return 0;
}

int main(void)
{
    for (int *here = numbers; here < numbers + 4; here++)
        *here = 1;
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return x - 4;
}
