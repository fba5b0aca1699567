/* C11 7.22.3.1p2: a size that is no multiple of the alignment. */
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
    object = aligned_alloc(64, 100);
    free(object);
    pthread_join(t, NULL);
    return 0;
}
