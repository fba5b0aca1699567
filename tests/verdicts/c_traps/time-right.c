/* POSIX: clocks write the time, which is printed; who sleeps reads how long. */
#include <stdio.h>
#include <time.h>

int main(void)
{
    struct timespec before, after, pause = {0, 1000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&pause, 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("%f s\n", difftime(after.tv_sec, before.tv_sec));
    printf("%ld ns\n", (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec);
    return 0;
}
