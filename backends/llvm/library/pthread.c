/* Locks of POSIX and C11 as their specifications: what takes one acquires, what gives it back releases. The words of a
   lock are at the beginning of the object of the system's header, which begins as zeros. A mutex that is held has the
   number of its owner, so that nobody else gives it back. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>
#undef pthread_equal
#undef thrd_equal

void __synth_stops(const char *why); /* a finding, at which the thread ends */
void __synth_assumes(const char *what);
void __synth_refuses(const char *what);
_Bool __synth_chance(void); /* whether something happens that may happen or not */
_Atomic int *__synth_beside(const void *object); /* a number beside an object, 0 at first; null where that has no name */

enum { DEAD = -0x6DEAD };
#ifndef DESTROYS
#define DESTROYS 1 /* whether the program destroys semaphores or condition variables */
#endif
#ifndef KINDS
#define KINDS 1 /* whether the program makes mutexes that are not of the default kind */
#endif

/* "kind": that of POSIX, with marks beside it; "count": how often more than once a recursive mutex is held. */
typedef struct { _Atomic int held; int kind, count; } synth_mutex;
enum { OF_C = 1 << 8, TIMED = 1 << 9 }; /* a mutex of <threads.h>, and one that may be waited for until a time */
typedef struct { _Atomic int readers; } synth_rwlock;
typedef struct { _Atomic unsigned signals; } synth_cond;
typedef struct { _Atomic unsigned arrived; unsigned threads; _Atomic unsigned opened; } synth_barrier;
typedef struct { _Atomic int done; } synth_once;
typedef struct { _Atomic int value; } synth_semaphore;

static int synth_self(void) { return (int)(long)pthread_self() + 1; }

/* Whether an object has been initialised before, by a call. */
static int synth_begun(const void *object)
{
    _Atomic int *begun = __synth_beside(object);
    return begun && atomic_load_explicit(begun, memory_order_relaxed);
}

/* Begin the life of an object. "lives": it has a word that says so, which is asked only where there has been a call. */
static void synth_begin(const void *object, int lives)
{
    _Atomic int *begun = __synth_beside(object);
    if (lives)
        __synth_stops("initialised twice");
    if (begun)
        atomic_store_explicit(begun, 1, memory_order_relaxed);
}

/* Of objects that no initial value makes: semaphores and barriers. */
static void synth_needs_begun(const void *object)
{
    _Atomic int *begun = __synth_beside(object);
    if (begun && !atomic_load_explicit(begun, memory_order_relaxed))
        __synth_stops("not initialised");
}

#define BEGIN(object, word, is_alive)                                                   \
    synth_begin((object), synth_begun(object)                                           \
                              && (atomic_load_explicit((word), memory_order_relaxed) is_alive))

/* Take what nobody has; return who has it, 0 where it is taken now. */
static int synth_take(_Atomic int *word)
{
    int held = 0;
    if (atomic_compare_exchange_strong_explicit(word, &held, synth_self(), memory_order_acquire, memory_order_relaxed))
        return 0;
    if (held == DEAD)
        __synth_stops("destroyed");
    return held;
}

static void synth_give_back(_Atomic int *word)
{
    int held = atomic_exchange_explicit(word, 0, memory_order_release);
    if (held != synth_self())
        __synth_stops(held == DEAD ? "destroyed" : "unlock");
}

static void synth_destroy(_Atomic int *word)
{
    int held = atomic_exchange_explicit(word, DEAD, memory_order_relaxed);
    if (held != 0)
        __synth_stops(held == DEAD ? "destroyed" : "destroyed while held");
}

int pthread_mutexattr_init(pthread_mutexattr_t *attributes)
{
    *(int *)attributes = PTHREAD_MUTEX_DEFAULT;
    return 0;
}
int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes) { return 0; }
int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind)
{
    if (kind != PTHREAD_MUTEX_NORMAL && kind != PTHREAD_MUTEX_RECURSIVE && kind != PTHREAD_MUTEX_ERRORCHECK)
        return EINVAL;
    *(int *)attributes = kind;
    return 0;
}
int pthread_mutexattr_gettype(const pthread_mutexattr_t *restrict attributes, int *restrict kind)
{
    *kind = *(const int *)attributes;
    return 0;
}

static int synth_mutex_begin(synth_mutex *mutex, int kind)
{
    BEGIN(mutex, &mutex->held, != DEAD);
    atomic_init(&mutex->held, 0);
    if (KINDS) {
        mutex->kind = kind;
        mutex->count = 0;
    }
    return 0;
}

int pthread_mutex_init(pthread_mutex_t *restrict object, const pthread_mutexattr_t *restrict attributes)
{
    return synth_mutex_begin((synth_mutex *)object, KINDS && attributes ? *(const int *)attributes : 0);
}

/* Take a mutex once more that is recursive and that the thread has already; return whether it was. */
static int synth_again(synth_mutex *mutex)
{
    if ((mutex->kind & ~(OF_C | TIMED)) != PTHREAD_MUTEX_RECURSIVE)
        return 0;
    mutex->count++;
    return 1;
}

int pthread_mutex_trylock(pthread_mutex_t *object)
{
    synth_mutex *mutex = (synth_mutex *)object;
    int holder = synth_take(&mutex->held);
    if (KINDS && holder == synth_self() && synth_again(mutex))
        return 0;
    return holder == 0 ? 0 : EBUSY;
}

int pthread_mutex_lock(pthread_mutex_t *object)
{
    synth_mutex *mutex = (synth_mutex *)object;
    int holder;
    while ((holder = synth_take(&mutex->held)) != 0)
        if (KINDS && holder == synth_self()) {
            if (synth_again(mutex))
                return 0;
            if (mutex->kind == PTHREAD_MUTEX_ERRORCHECK)
                return EDEADLK;
        }
    return 0;
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict object, const struct timespec *restrict until)
{
    synth_mutex *mutex = (synth_mutex *)object;
    __synth_assumes("who waits for a mutex for some time gets it or gives up at once");
    int holder = synth_take(&mutex->held);
    if (KINDS && holder == synth_self()) {
        if (synth_again(mutex))
            return 0;
        if (mutex->kind == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
    }
    return holder == 0 ? 0 : ETIMEDOUT;
}

int pthread_mutex_unlock(pthread_mutex_t *object)
{
    synth_mutex *mutex = (synth_mutex *)object;
    if (KINDS && mutex->kind != PTHREAD_MUTEX_NORMAL) {
        int kind = mutex->kind & ~(OF_C | TIMED);
        int holder = atomic_load_explicit(&mutex->held, memory_order_relaxed);
        if (holder == DEAD)
            __synth_stops("destroyed");
        if (holder != synth_self() && !(mutex->kind & OF_C))
            return EPERM; /* C leaves it undefined (7.26.4.6p2), POSIX does not */
        if (holder == synth_self() && kind == PTHREAD_MUTEX_RECURSIVE && mutex->count > 0) {
            mutex->count--;
            return 0;
        }
    }
    synth_give_back(&mutex->held);
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *object)
{
    synth_destroy(&((synth_mutex *)object)->held);
    return 0;
}

int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    BEGIN((const void *)lock, (_Atomic int *)lock, != DEAD);
    atomic_init((_Atomic int *)lock, 0);
    return 0;
}
int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    synth_destroy((_Atomic int *)lock);
    return 0;
}
int pthread_spin_trylock(pthread_spinlock_t *lock) { return synth_take((_Atomic int *)lock) == 0 ? 0 : EBUSY; }
int pthread_spin_lock(pthread_spinlock_t *lock)
{
    while (synth_take((_Atomic int *)lock) != 0) { }
    return 0;
}
int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    synth_give_back((_Atomic int *)lock);
    return 0;
}

int pthread_rwlock_init(pthread_rwlock_t *restrict object, const pthread_rwlockattr_t *restrict attributes)
{
    _Atomic int *word = &((synth_rwlock *)object)->readers;
    BEGIN(object, word, != DEAD);
    atomic_init(word, 0);
    return 0;
}

/* The bits of a thread among those of all readers: how often it reads. */
enum { MOST_READERS = 15, TIMES = 3 };
static int place_of_reader(void)
{
    if (synth_self() > MOST_READERS)
        __synth_refuses("a read-write lock in more than 15 threads");
    return 2 * (synth_self() - 1);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *object)
{
    _Atomic int *word = &((synth_rwlock *)object)->readers;
    int readers = atomic_load_explicit(word, memory_order_relaxed);
    if (readers == DEAD)
        __synth_stops("destroyed");
    if (readers >= 0 && (readers >> place_of_reader() & TIMES) == TIMES)
        return EAGAIN;
    return readers >= 0 && atomic_compare_exchange_strong_explicit(word, &readers, readers + (1 << place_of_reader()),
                                                                   memory_order_acquire, memory_order_relaxed)
        ? 0 : EBUSY;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *object)
{
    while (pthread_rwlock_tryrdlock(object) != 0) { }
    return 0;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *object)
{
    int readers = 0;
    if (atomic_compare_exchange_strong_explicit(&((synth_rwlock *)object)->readers, &readers, -synth_self(),
                                                memory_order_acquire, memory_order_relaxed))
        return 0;
    if (readers == DEAD)
        __synth_stops("destroyed");
    return EBUSY;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *object)
{
    while (pthread_rwlock_trywrlock(object) != 0) { }
    return 0;
}

int pthread_rwlock_unlock(pthread_rwlock_t *object)
{
    _Atomic int *word = &((synth_rwlock *)object)->readers;
    int readers = atomic_load_explicit(word, memory_order_relaxed);
    if (readers < 0 ? readers != -synth_self() : (readers >> place_of_reader() & TIMES) == 0)
        __synth_stops(readers == DEAD ? "destroyed" : "unlock");
    if (readers < 0)
        atomic_store_explicit(word, 0, memory_order_release);
    else
        atomic_fetch_sub_explicit(word, 1 << place_of_reader(), memory_order_release);
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *object)
{
    int readers = atomic_exchange_explicit(&((synth_rwlock *)object)->readers, DEAD, memory_order_relaxed);
    if (readers != 0)
        __synth_stops(readers == DEAD ? "destroyed" : "destroyed while held");
    return 0;
}

/* The signals of a condition variable that is destroyed have this bit. */
#define ENDED 0x80000000u

int pthread_condattr_init(pthread_condattr_t *attributes) { return 0; }
int pthread_condattr_destroy(pthread_condattr_t *attributes) { return 0; }
int pthread_cond_init(pthread_cond_t *restrict object, const pthread_condattr_t *restrict attributes)
{
    BEGIN(object, &((synth_cond *)object)->signals, < ENDED);
    atomic_init(&((synth_cond *)object)->signals, 0);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *object)
{
    unsigned before = atomic_fetch_add_explicit(&((synth_cond *)object)->signals, 1, memory_order_relaxed);
    if (DESTROYS && before >= ENDED)
        __synth_stops("destroyed");
    return 0;
}

int pthread_cond_signal(pthread_cond_t *object)
{
    __synth_assumes("a signal wakes all who wait for a condition variable");
    return pthread_cond_broadcast(object);
}

int pthread_cond_wait(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex)
{
    synth_cond *condition = (synth_cond *)object;
    unsigned signals = atomic_load_explicit(&condition->signals, memory_order_relaxed);
    if (DESTROYS && signals >= ENDED)
        __synth_stops("destroyed");
    pthread_mutex_unlock(mutex);
    if (__synth_chance()) { /* else it wakes up for no reason */
        unsigned now;
        while ((now = atomic_load_explicit(&condition->signals, memory_order_relaxed)) == signals) { }
        if (DESTROYS && now == (signals | ENDED))
            __synth_stops("destroyed");
    }
    return pthread_mutex_lock(mutex);
}

int pthread_cond_timedwait(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    int late = __synth_chance();
    pthread_mutex_unlock(mutex);
    pthread_mutex_lock(mutex);
    return late ? ETIMEDOUT : 0;
}

int pthread_cond_destroy(pthread_cond_t *object)
{
    if (atomic_fetch_or_explicit(&((synth_cond *)object)->signals, ENDED, memory_order_relaxed) >= ENDED)
        __synth_stops("destroyed");
    return 0;
}

int pthread_barrier_init(pthread_barrier_t *restrict object, const pthread_barrierattr_t *restrict attributes,
                         unsigned threads)
{
    synth_barrier *barrier = (synth_barrier *)object;
    if (threads == 0)
        return EINVAL;
    BEGIN(object, &barrier->arrived, < (unsigned)DEAD);
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->opened, 0);
    barrier->threads = threads;
    return 0;
}

int pthread_barrier_wait(pthread_barrier_t *object)
{
    synth_barrier *barrier = (synth_barrier *)object;
    synth_needs_begun(object);
    unsigned before = atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel);
    if (before >= (unsigned)DEAD)
        __synth_stops("destroyed");
    unsigned round = before / barrier->threads + 1;
    if (before + 1 == round * barrier->threads) {
        atomic_store_explicit(&barrier->opened, round, memory_order_release);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (atomic_load_explicit(&barrier->opened, memory_order_acquire) < round) { }
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *object)
{
    synth_barrier *barrier = (synth_barrier *)object;
    synth_needs_begun(object);
    unsigned before = atomic_exchange_explicit(&barrier->arrived, DEAD, memory_order_relaxed);
    if (before >= (unsigned)DEAD)
        __synth_stops("destroyed");
    if (before % barrier->threads) {
        atomic_store_explicit(&barrier->opened, DEAD, memory_order_relaxed); /* so that the wait is no hang besides */
        __synth_stops("destroyed while waited for");
    }
    return 0;
}

int pthread_once(pthread_once_t *object, void (*routine)(void))
{
    _Atomic int *state = &((synth_once *)object)->done;
    int done = 0;
    if (atomic_compare_exchange_strong_explicit(state, &done, 1, memory_order_acquire, memory_order_acquire)) {
        routine();
        atomic_store_explicit(state, 2, memory_order_release);
    } else {
        while (atomic_load_explicit(state, memory_order_acquire) != 2) { }
    }
    return 0;
}

int (pthread_equal)(pthread_t one, pthread_t other) { return one == other; }
int (thrd_equal)(thrd_t one, thrd_t other) { return one == other; }

int sem_init(sem_t *object, int shared, unsigned value)
{
    _Atomic int *word = &((synth_semaphore *)object)->value;
    BEGIN(object, word, >= 0);
    atomic_init(word, value);
    return 0;
}

int sem_trywait(sem_t *object)
{
    _Atomic int *word = &((synth_semaphore *)object)->value;
    synth_needs_begun(object);
    int value = atomic_load_explicit(word, memory_order_relaxed);
    if (DESTROYS && value < 0)
        __synth_stops("destroyed");
    return value > 0 && atomic_compare_exchange_strong_explicit(word, &value, value - 1, memory_order_acquire,
                                                                memory_order_relaxed) ? 0 : -1;
}

int sem_wait(sem_t *object)
{
    while (sem_trywait(object) != 0) { }
    return 0;
}

int sem_post(sem_t *object)
{
    synth_needs_begun(object);
    int before = atomic_fetch_add_explicit(&((synth_semaphore *)object)->value, 1, memory_order_release);
    if (DESTROYS && before < 0)
        __synth_stops("destroyed");
    return 0;
}

int sem_getvalue(sem_t *restrict object, int *restrict value)
{
    synth_needs_begun(object);
    int now = atomic_load_explicit(&((synth_semaphore *)object)->value, memory_order_relaxed);
    if (DESTROYS && now < 0)
        __synth_stops("destroyed");
    *value = now;
    return 0;
}

int sem_destroy(sem_t *object)
{
    synth_needs_begun(object);
    if (atomic_exchange_explicit(&((synth_semaphore *)object)->value, DEAD, memory_order_relaxed) < 0)
        __synth_stops("destroyed");
    return 0;
}

int mtx_init(mtx_t *mutex, int kind)
{
    int marks = kind & mtx_timed ? OF_C | TIMED : OF_C;
    return synth_mutex_begin((synth_mutex *)mutex, (kind & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : 0) | marks);
}
int mtx_lock(mtx_t *mutex) { return pthread_mutex_lock((pthread_mutex_t *)mutex); }
int mtx_trylock(mtx_t *mutex)
{
    return pthread_mutex_trylock((pthread_mutex_t *)mutex) == 0 ? thrd_success : thrd_busy;
}
int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
    if (KINDS && !(((synth_mutex *)mutex)->kind & TIMED))
        __synth_stops("timed");
    return pthread_mutex_timedlock((pthread_mutex_t *)mutex, until) == 0 ? thrd_success : thrd_timedout;
}
int mtx_unlock(mtx_t *mutex) { return pthread_mutex_unlock((pthread_mutex_t *)mutex); }
void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy((pthread_mutex_t *)mutex); }
int cnd_init(cnd_t *condition) { return pthread_cond_init((pthread_cond_t *)condition, 0); }
int cnd_signal(cnd_t *condition) { return pthread_cond_signal((pthread_cond_t *)condition); }
int cnd_broadcast(cnd_t *condition) { return pthread_cond_broadcast((pthread_cond_t *)condition); }
int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex);
}
void cnd_destroy(cnd_t *condition) { pthread_cond_destroy((pthread_cond_t *)condition); }
void call_once(once_flag *flag, void (*routine)(void))
{
    pthread_once((pthread_once_t *)flag, routine);
}
