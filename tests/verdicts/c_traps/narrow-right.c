// a sum that is cut to 8 bits has its sign again when it is read
#include <assert.h>
#include <pthread.h>
signed char shared;
static void *worker(void *unused)
{
    shared |= 0x7fffffff;
    return 0;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    assert(shared == -1);
    return 0;
}
