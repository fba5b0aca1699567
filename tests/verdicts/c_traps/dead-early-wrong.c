/* C11 6.2.4p2: the variable of a call that starts a thread and does not wait for it is no more while the thread writes. */
#include <pthread.h>

pthread_t t;

void *thread(void *argument)
{
    *(int *)argument = 1;
    return 0;
}

static void begin(void)
{
    int x = 0;
    pthread_create(&t, 0, thread, &x);
}

int main(void)
{
    begin();
    pthread_join(t, 0);
    return 0;
}
