/* C11 6.5.6p8: a read out of bounds, before there is any other thread. */
#include <pthread.h>

int numbers[4], x;

void *thread(void *unused)
{
    x = 1;
    return 0;
}

int main(void)
{
    int count = 4;
    int found = numbers[count];
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return found;
}
