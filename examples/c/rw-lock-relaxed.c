/* A lock for several readers or one writer, whose readers give it back without a release: a writer may write while
   they still read. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int state;
static int x, y;

static void read_lock(void)
{
    for (;;) {
        int seen = atomic_load_explicit(&state, memory_order_relaxed);
        if (seen >= 0
            && atomic_compare_exchange_strong_explicit(&state, &seen, seen + 1, memory_order_acquire,
                                                       memory_order_relaxed))
            return;
    }
}

static void read_unlock(void)
{
    atomic_fetch_sub_explicit(&state, 1, memory_order_relaxed);
}

static void write_lock(void)
{
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(&state, &free, -1, memory_order_acquire, memory_order_relaxed))
        free = 0;
}

static void write_unlock(void)
{
    atomic_store_explicit(&state, 0, memory_order_release);
}

static void *writer(void *argument)
{
    write_lock();
    x = 1;
    y = 1;
    write_unlock();
    return NULL;
}

static void *reader(void *argument)
{
    read_lock();
    assert(x == y);
    read_unlock();
    return NULL;
}

int main(void)
{
    pthread_t w, r, s;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&s, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    pthread_join(s, NULL);
    return 0;
}
