/* C11 5.1.1.2p1: lines are joined at a backslash before comments are found: the write is a part of the comment. */
#include <pthread.h>

int x;

void *thread(void *unused)
{
    // nobody writes here \
    x = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    x++;
    pthread_join(t, 0);
    return 0;
}
