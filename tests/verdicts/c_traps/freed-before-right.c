// a thread is created behind free of what it uses, while another one is there
#include <pthread.h>
#include <stdlib.h>
int *object, *other, number;
static void *idle(void *unused)
{
    return 0;
}
static void *late(void *unused)
{
    number = *other;
    return 0;
}
int main(void)
{
    pthread_t one, two;
    object = calloc(2, sizeof(int));
    other = calloc(2, sizeof(int));
    pthread_create(&one, 0, idle, 0);
    pthread_create(&two, 0, late, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    free(other);
    number = object[1];
    free(object);
    return 0;
}
