/* C11 7.22.3.4p2 and 6.5.6p8: the block has 8 bytes, whatever the type of the pointer to it; the write is behind it. */
#include <stdlib.h>
#include <pthread.h>

void *block;

void *thread(void *unused)
{
    int *numbers = block;
    numbers[2] = 1;
    return 0;
}

int main(void)
{
    block = malloc(8);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    free(block);
    return 0;
}
