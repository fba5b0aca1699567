/* C11 7.21.6.1p8: a string is read to its end, which another thread may decide, or as far as the precision says. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic char text[4] = {'a', 'b', 'c', 0};
static char behind[] = {'x', 'y', 'z'};

static void *worker(void *unused)
{
    atomic_store(&text[1], 'd');
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    printf("%.*s%.2s%.0s%c%%\n", 3, behind, behind, behind, '.');
    pthread_join(thread, 0);
    printf("%s\n", (char *)text);
    return 0;
}
