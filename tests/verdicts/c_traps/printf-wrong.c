/* C11 5.1.2.4p25: what is given to printf is read, and races with the write of another thread. */
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
    printf("%d\n", x);
    pthread_join(t, 0);
    return 0;
}
