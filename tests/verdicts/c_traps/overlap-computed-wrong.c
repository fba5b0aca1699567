/* C17 7.24.2.1p2: memcpy to a place that memory decides, which overlaps. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

char bytes[8];
atomic_int place = 2;

void *thread(void *unused)
{
    atomic_store(&place, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int k = atomic_load(&place);
    memcpy(bytes + k, bytes, 2);
    pthread_join(t, NULL);
    return 0;
}
