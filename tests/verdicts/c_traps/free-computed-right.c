/* C17 7.22.3.3p2: free of a place in an object that memory decides, which is its beginning. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int place;

void *thread(void *unused)
{
    atomic_store(&place, 0);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    char *object = malloc(4);
    int k = atomic_load(&place);
    free(object + k);
    pthread_join(t, NULL);
    return 0;
}
