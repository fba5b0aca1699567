/* POSIX pthread_join: what a thread returns is where its creator asks for it, each once. */
#include <assert.h>
#include <pthread.h>

int x = 3;

void *thread(void *unused)
{
    return &x;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    void *result;
    pthread_join(t, &result);
    assert(*(int *)result == 3);
    return 0;
}
