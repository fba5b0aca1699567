/* C11 6.2.4p2: a variable of a call is no more when the call returns; its address is used by a thread. */
#include <pthread.h>

void *thread(void *argument)
{
    *(int *)argument = 1;
    return 0;
}

static int *gone(void)
{
    int x = 0;
    int *volatile where = &x;
    return where;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, gone());
    pthread_join(t, 0);
    return 0;
}
