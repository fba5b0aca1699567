/* C17 7.22.3.3p2: free of an object that malloc has not given, by an address from memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int x;
int *_Atomic shared;

void *thread(void *unused)
{
    atomic_store(&shared, &x);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int *object = atomic_load(&shared);
    if (object)
        free(object);
    pthread_join(t, NULL);
    return 0;
}
