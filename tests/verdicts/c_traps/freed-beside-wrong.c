// a thread uses what it gave back, while another one is there that has nothing to do with it
#include <pthread.h>
#include <stdlib.h>
int *object, number;
static void *idle(void *unused)
{
    return 0;
}
int main(void)
{
    pthread_t thread;
    object = calloc(2, sizeof(int));
    pthread_create(&thread, 0, idle, 0);
    free(object);
    number = object[1];
    pthread_join(thread, 0);
    return 0;
}
