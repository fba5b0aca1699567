/* C11 7.26.4.4p2: the mutex does not support to be waited for until a time. */
#include <threads.h>
#include <time.h>

int main(void)
{
    mtx_t mutex;
    struct timespec until = {0, 0};
    mtx_init(&mutex, mtx_recursive);
    mtx_timedlock(&mutex, &until);
    mtx_unlock(&mutex);
    mtx_destroy(&mutex);
    return 0;
}
