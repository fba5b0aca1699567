/* C17 7.22.5.2 and 5.1.2.4p25: an array is sorted while another thread writes an element. */
#include <pthread.h>
#include <stdlib.h>

int numbers[2];

static int by_number(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

void *thread(void *unused)
{
    numbers[0] = 1;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    qsort(numbers, 2, sizeof *numbers, by_number);
    pthread_join(t, NULL);
    return 0;
}
