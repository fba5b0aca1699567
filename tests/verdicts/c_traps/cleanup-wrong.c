/* The attribute cleanup (GCC) calls a function when a variable goes out of scope: its write races. */
#include <pthread.h>

int x;

static void leave(int *guard)
{
    x = *guard;
}

void *thread(void *unused)
{
    x = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    {
        __attribute__((cleanup(leave))) int guard = 2;
        (void)guard;
    }
    pthread_join(t, 0);
    return 0;
}
