/* C17 6.7.6.2p5: an array of as many elements as are computed. */
#include <pthread.h>
#include <stdatomic.h>

int count = 3, last;

void *thread(void *unused)
{
    last = count;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int array[count];
    for (int i = 0; i < count; i++)
        array[i] = i;
    pthread_join(t, NULL);
    return 0;
}
