/* C11 7.22.4.4: a function that has returned had the only address of a block where the program is ended. */
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *unused) { return unused; }

static void lose(void)
{
    int *block = malloc(sizeof *block);
    *block = 1;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    lose();
    exit(0);
}
