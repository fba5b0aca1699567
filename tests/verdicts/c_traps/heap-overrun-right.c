/* C11 7.22.3.4p2: the block has 8 bytes, whatever the type of the pointer to it; the last int is at 4. */
#include <stdlib.h>
#include <pthread.h>

void *block;

void *thread(void *unused)
{
    int *numbers = block;
    numbers[1] = 1;
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
