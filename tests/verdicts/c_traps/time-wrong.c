/* C11 7.27.2.4: time writes to where it is told, as another thread reads it. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static time_t now;

static void *worker(void *unused)
{
    time(&now);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    printf("%ld\n", (long)now);
    pthread_join(thread, 0);
    return 0;
}
