/* POSIX, posix_memalign: an alignment that is no power of two is an error. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void *object;

void *thread(void *unused)
{
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int failed = posix_memalign(&object, 24, 48);
    assert(!failed);
    pthread_join(t, NULL);
    return 0;
}
