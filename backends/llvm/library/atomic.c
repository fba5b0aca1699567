/* Atomic objects that are too large for an instruction (C11 7.17.5): each access is one of the whole, under one lock. */
#include <stdatomic.h>
#include <stddef.h>

void __synth_assumes(const char *what);

static atomic_flag large_lock = ATOMIC_FLAG_INIT;

static void begin_large(void)
{
    __synth_assumes("atomic accesses to large objects are ordered as by one lock, whatever order they have");
    while (atomic_flag_test_and_set_explicit(&large_lock, memory_order_acquire)) { }
}

static void end_large(void) { atomic_flag_clear_explicit(&large_lock, memory_order_release); }

static void copy_large(char *target, const char *source, size_t size) { __builtin_memcpy(target, source, size); }

#define NAMED(name) __asm__(name)
void large_load(size_t size, void *object, void *result, int order) NAMED("__atomic_load");
void large_store(size_t size, void *object, void *value, int order) NAMED("__atomic_store");
void large_exchange(size_t size, void *object, void *value, void *result, int order) NAMED("__atomic_exchange");
_Bool large_compare(size_t size, void *object, void *expected, void *value, int success, int failure)
    NAMED("__atomic_compare_exchange");

void large_load(size_t size, void *object, void *result, int order)
{
    begin_large();
    copy_large(result, object, size);
    end_large();
}

void large_store(size_t size, void *object, void *value, int order)
{
    begin_large();
    copy_large(object, value, size);
    end_large();
}

void large_exchange(size_t size, void *object, void *value, void *result, int order)
{
    begin_large();
    copy_large(result, object, size);
    copy_large(object, value, size);
    end_large();
}

_Bool large_compare(size_t size, void *object, void *expected, void *value, int success, int failure)
{
    begin_large();
    const char *one = object, *other = expected;
    size_t n = 0;
    while (n < size && one[n] == other[n])
        n++;
    if (n == size)
        copy_large(object, value, size);
    else
        copy_large(expected, object, size);
    end_large();
    return n == size;
}
