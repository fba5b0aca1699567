#pragma once
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

/* Locks as their specifications: what takes one acquires, what gives it back releases. */

typedef struct __thread_id *pthread_t;
typedef int pthread_attr_t, pthread_mutexattr_t, pthread_rwlockattr_t, pthread_condattr_t, pthread_barrierattr_t;
typedef struct { _Atomic int held; } pthread_mutex_t;
typedef struct { _Atomic int held; } pthread_spinlock_t;
typedef struct { _Atomic int readers; } pthread_rwlock_t;
typedef struct { _Atomic unsigned signals; _Atomic int chance; } pthread_cond_t;
typedef struct { _Atomic unsigned arrived; unsigned threads; } pthread_barrier_t;
typedef struct { _Atomic int done; } pthread_once_t;
#define PTHREAD_MUTEX_INITIALIZER { 0 }
#define PTHREAD_RWLOCK_INITIALIZER { 0 }
#define PTHREAD_COND_INITIALIZER { 0 }
#define PTHREAD_ONCE_INIT { 0 }
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_CREATE_JOINABLE 0
#define pthread_attr_init(attributes) 0
#define pthread_attr_destroy(attributes) 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    atomic_init(&mutex->held, 0);
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int held = 0;
    return atomic_compare_exchange_strong_explicit(&mutex->held, &held, 1, memory_order_acquire, memory_order_relaxed)
        ? 0 : EBUSY;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    while (pthread_mutex_trylock(mutex) != 0) { }
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    atomic_store_explicit(&mutex->held, 0, memory_order_release);
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex) { return 0; }

static inline int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    atomic_init(&lock->held, 0);
    return 0;
}

static inline int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    int held = 0;
    return atomic_compare_exchange_strong_explicit(&lock->held, &held, 1, memory_order_acquire, memory_order_relaxed)
        ? 0 : EBUSY;
}

static inline int pthread_spin_lock(pthread_spinlock_t *lock)
{
    while (pthread_spin_trylock(lock) != 0) { }
    return 0;
}

static inline int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    atomic_store_explicit(&lock->held, 0, memory_order_release);
    return 0;
}

static inline int pthread_spin_destroy(pthread_spinlock_t *lock) { return 0; }

static inline int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    atomic_init(&lock->readers, 0);
    return 0;
}

static inline int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    for (;;) {
        int readers = atomic_load_explicit(&lock->readers, memory_order_relaxed);
        if (readers >= 0 && atomic_compare_exchange_strong_explicit(&lock->readers, &readers, readers + 1,
                                                                    memory_order_acquire, memory_order_relaxed))
            return 0;
    }
}

static inline int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    int readers;
    do
        readers = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock->readers, &readers, -1, memory_order_acquire,
                                                    memory_order_relaxed));
    return 0;
}

static inline int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    if (atomic_load_explicit(&lock->readers, memory_order_relaxed) < 0)
        atomic_store_explicit(&lock->readers, 0, memory_order_release);
    else
        atomic_fetch_sub_explicit(&lock->readers, 1, memory_order_release);
    return 0;
}

static inline int pthread_rwlock_destroy(pthread_rwlock_t *lock) { return 0; }

static inline int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    atomic_init(&condition->signals, 0);
    atomic_init(&condition->chance, 0);
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *condition)
{
    atomic_fetch_add_explicit(&condition->signals, 1, memory_order_relaxed);
    return 0;
}

static inline int pthread_cond_signal(pthread_cond_t *condition)
{
    __assumed("a signal wakes all who wait for a condition variable");
    return pthread_cond_broadcast(condition);
}

static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    int chance = 0;
    unsigned signals = atomic_load_explicit(&condition->signals, memory_order_relaxed);
    pthread_mutex_unlock(mutex);
    /* Who waits may wake up for no reason, as a weak exchange may fail. */
    if (atomic_compare_exchange_weak_explicit(&condition->chance, &chance, 0, memory_order_relaxed,
                                              memory_order_relaxed))
        while (atomic_load_explicit(&condition->signals, memory_order_relaxed) == signals) { }
    return pthread_mutex_lock(mutex);
}

static inline int pthread_cond_destroy(pthread_cond_t *condition) { return 0; }

static inline int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                                       unsigned threads)
{
    atomic_init(&barrier->arrived, 0);
    barrier->threads = threads;
    return 0;
}

static inline int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    unsigned before = atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel);
    unsigned enough = (before / barrier->threads + 1) * barrier->threads;
    while (atomic_load_explicit(&barrier->arrived, memory_order_acquire) < enough) { }
    return before + 1 == enough ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

static inline int pthread_barrier_destroy(pthread_barrier_t *barrier) { return 0; }

static inline int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    int done = 0;
    if (atomic_compare_exchange_strong_explicit(&once->done, &done, 1, memory_order_acquire, memory_order_acquire)) {
        routine();
        atomic_store_explicit(&once->done, 2, memory_order_release);
    } else {
        while (atomic_load_explicit(&once->done, memory_order_acquire) != 2) { }
    }
    return 0;
}
