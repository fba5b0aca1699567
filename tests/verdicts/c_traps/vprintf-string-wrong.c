/* C11 5.1.2.4p25: the string that vprintf reads is written by another thread. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static char name[4] = "a";

static void note(const char *form, ...)
{
    va_list list;
    va_start(list, form);
    vprintf(form, list);
    va_end(list);
}

static void *worker(void *unused)
{
    note("%s\n", name);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    name[0] = 'b';
    pthread_join(thread, 0);
    return 0;
}
