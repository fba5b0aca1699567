/* POSIX pthread_join: a thread that was joined may not be joined again. */
#include <pthread.h>

void *thread(void *unused)
{
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    pthread_join(t, 0);
    return 0;
}
