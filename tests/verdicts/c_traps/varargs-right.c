/* C11 7.16: what is behind the dots, of which each is promoted; of numbers, structs, and what another thread writes. */
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

struct pair { long a, b; };
static atomic_int shared;

static long added(int count, va_list list)
{
    long found = 0;
    for (int n = 0; n < count; n++)
        found += va_arg(list, int);
    return found;
}

static long sum(int count, ...)
{
    va_list list, again;
    va_start(list, count);
    va_copy(again, list);
    long found = added(count, list);
    va_end(list);
    found -= va_arg(again, int);
    va_end(again);
    return found;
}

static double mixed(const char *kinds, ...)
{
    double found = 0;
    va_list list;
    va_start(list, kinds);
    for (; *kinds; kinds++)
        found += *kinds == 'd' ? va_arg(list, double) : (double)va_arg(list, struct pair).b;
    va_end(list);
    return found;
}

static void *worker(void *unused)
{
    long found = sum(3, 1, 2, atomic_load(&shared));
    assert(found == 2 || found == 7);
    return 0;
}

int main(void)
{
    pthread_t thread;
    struct pair two = {1, 2};
    assert(sum(9, (char)1, 2, 3, 4, 5, 6, 7, 8, (_Bool)9) == 36);
    assert(mixed("dpdp", 1.0f, two, 2.0, two) == 7);
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&shared, 5);
    pthread_join(thread, 0);
    return 0;
}
