#pragma once
#include <stdatomic.h>

typedef struct { _Atomic int value; } sem_t;

static inline int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    atomic_init(&semaphore->value, value);
    return 0;
}

static inline int sem_wait(sem_t *semaphore)
{
    for (;;) {
        int value = atomic_load_explicit(&semaphore->value, memory_order_relaxed);
        if (value > 0 && atomic_compare_exchange_strong_explicit(&semaphore->value, &value, value - 1,
                                                                 memory_order_acquire, memory_order_relaxed))
            return 0;
    }
}

static inline int sem_post(sem_t *semaphore)
{
    atomic_fetch_add_explicit(&semaphore->value, 1, memory_order_release);
    return 0;
}

static inline int sem_destroy(sem_t *semaphore) { return 0; }
