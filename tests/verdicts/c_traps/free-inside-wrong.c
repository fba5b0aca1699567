/* C17 7.22.3.3p2: free of the middle of an object, by an address from memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

char *_Atomic shared;

void *thread(void *unused)
{
    char *object = malloc(4);
    object[1] = 1;
    atomic_store(&shared, object + 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    char *object = atomic_load(&shared);
    if (object)
        free(object);
    pthread_join(t, NULL);
    return 0;
}
