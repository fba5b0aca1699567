/* POSIX pthread_join: a thread is joined on two ways, and on one the memory is given back before. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int flag;
void *worker(void *p) { atomic_store(&flag, 1); return 0; }
int main(void)
{
    pthread_t t;
    int *p = malloc(4);
    int freed = 0;
    *p = 3;
    pthread_create(&t, 0, worker, 0);
    if (atomic_load(&flag)) { free(p); freed = 1; }
    pthread_join(t, 0);
    if (!freed) assert(*p == 3);
}
