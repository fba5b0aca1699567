/* C11 6.2.4p5: a variable of main lives until the thread that uses it has ended. */
#include <pthread.h>

void *thread(void *argument)
{
    *(int *)argument = 1;
    return 0;
}

int main(void)
{
    int x = 0;
    pthread_t t;
    pthread_create(&t, 0, thread, &x);
    pthread_join(t, 0);
    return x - 1;
}
