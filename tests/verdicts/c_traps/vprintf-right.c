/* C11 7.21.6.8: vfprintf reads the arguments behind the dots of the function that calls it. */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_long shared;

static void note(const char *form, ...)
{
    va_list list;
    va_start(list, form);
    vfprintf(stderr, form, list);
    va_end(list);
}

static void *worker(void *unused)
{
    note("%s: %ld of %d, %.1f\n", "shared", atomic_load(&shared), 2, 0.5);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&shared, 3);
    pthread_join(thread, 0);
    return 0;
}
