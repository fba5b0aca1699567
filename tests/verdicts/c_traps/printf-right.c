/* C11 5.1.2.4p25: what is given to printf is read, when the other thread has ended. */
#include <stdio.h>
#include <pthread.h>

int x;

void *thread(void *unused)
{
    x = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    printf("%d\n", x);
    return 0;
}
