/* C11 5.1.2.4p25: the last letter that is written out races with its write, whatever the first one is. */
#include <pthread.h>
#include <stdio.h>

static _Atomic char text[3] = {'a', 0, 0};

static void *first(void *unused)
{
    text[0] = 'b';
    return 0;
}

static void *second(void *unused)
{
    *(char *)&text[1] = 'c';
    return 0;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    printf("%s\n", (char *)text);
    pthread_join(two, 0);
    return 0;
}
