/* What libc++ and the C++ ABI leave in their libraries: threads, locks, condition variables, guards of static variables.
   A function has the name that C++ has for it (Itanium C++ ABI, 5.1). std::mutex, shared_mutex and condition_variable
   are the locks of POSIX, at the beginning of the object. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define NAMED(name) __asm__(#name)

void __synth_stops(const char *why);
void __synth_assumes(const char *what);
void __synth_refuses(const char *what);
unsigned *__synth_notified(const void *object);
void __synth_at_exit(void (*function)(void *), void *argument);
void __synth_at_thread_exit(void (*function)(void *), void *argument);

void *__cxa_allocate_exception(size_t size);
void __cxa_throw(void *object, const void *type, void (*destroy)(void *));
extern const char synth_type_of_system_error NAMED(_ZTINSt3__112system_errorE);

_Bool __synth_chance(void); /* 0 as a weak exchange fails for no reason */
int __synth_is_asked_by_program(void);

static void synth_system_error(void)
{
    __cxa_throw(__cxa_allocate_exception(32), &synth_type_of_system_error, NULL);
}

/* threads */

void thread_ended(pthread_t *thread) NAMED(_ZNSt3__16threadD1Ev);
void thread_ended(pthread_t *thread)
{
    if (*thread != 0)
        __synth_stops("abort");
}

void thread_join(pthread_t *thread) NAMED(_ZNSt3__16thread4joinEv);
void thread_join(pthread_t *thread)
{
    if (*thread == 0)
        synth_system_error();
    pthread_join(*thread, NULL);
    *thread = 0;
}

void thread_detach(pthread_t *thread) NAMED(_ZNSt3__16thread6detachEv);
void thread_detach(pthread_t *thread)
{
    if (*thread == 0)
        synth_system_error();
    pthread_detach(*thread);
    *thread = 0;
}

unsigned hardware_concurrency(void) NAMED(_ZNSt3__16thread20hardware_concurrencyEv);
unsigned hardware_concurrency(void) { return 2; }
void sleep_for(const void *time)
    NAMED(_ZNSt3__111this_thread9sleep_forERKNS_6chrono8durationIxNS_5ratioILl1ELl1000000000EEEEE);
void sleep_for(const void *time) { }

/* Each thread has a clock of its own. Where the program asks what time it is, the clock has stood still, as a weak exchange
   fails for no reason, or gone on by more than anybody waits. */
static _Thread_local int64_t synth_time;
int64_t steady_now(void) NAMED(_ZNSt3__16chrono12steady_clock3nowEv);
int64_t steady_now(void)
{
    if (__synth_is_asked_by_program()) {
        __synth_assumes("each thread has a clock of its own, which stands still or goes on by weeks");
        if (__synth_chance())
            synth_time += (int64_t)1 << 52;
    }
    return synth_time;
}
int64_t system_now(void) NAMED(_ZNSt3__16chrono12system_clock3nowEv);
int64_t system_now(void) { return steady_now() / 1000; }

static int synth_key;
void thread_struct_made(void *object) NAMED(_ZNSt3__115__thread_structC1Ev);
void __synth_given_back_at_end(void *object);
void thread_struct_made(void *object) { __synth_given_back_at_end(object); }
void thread_struct_ended(void *object) NAMED(_ZNSt3__115__thread_structD1Ev);
void thread_struct_ended(void *object) { }
int *thread_local_data(void) NAMED(_ZNSt3__119__thread_local_dataEv);
int *thread_local_data(void) { return &synth_key; }

/* locks */

void mutex_lock(pthread_mutex_t *mutex) NAMED(_ZNSt3__15mutex4lockEv);
void mutex_lock(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); }
_Bool mutex_try_lock(pthread_mutex_t *mutex) NAMED(_ZNSt3__15mutex8try_lockEv);
_Bool mutex_try_lock(pthread_mutex_t *mutex) { return pthread_mutex_trylock(mutex) == 0; }
void mutex_unlock(pthread_mutex_t *mutex) NAMED(_ZNSt3__15mutex6unlockEv);
void mutex_unlock(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }
void mutex_ended(pthread_mutex_t *mutex) NAMED(_ZNSt3__15mutexD1Ev);
void mutex_ended(pthread_mutex_t *mutex) { pthread_mutex_destroy(mutex); }

void timed_made(pthread_mutex_t *mutex) NAMED(_ZNSt3__111timed_mutexC1Ev);
void timed_made(pthread_mutex_t *mutex) { pthread_mutex_init(mutex, NULL); }
void timed_ended(pthread_mutex_t *mutex) NAMED(_ZNSt3__111timed_mutexD1Ev);
void timed_ended(pthread_mutex_t *mutex) { pthread_mutex_destroy(mutex); }
void timed_lock(pthread_mutex_t *mutex) NAMED(_ZNSt3__111timed_mutex4lockEv);
void timed_lock(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); }
_Bool timed_try_lock(pthread_mutex_t *mutex) NAMED(_ZNSt3__111timed_mutex8try_lockEv);
_Bool timed_try_lock(pthread_mutex_t *mutex) { return pthread_mutex_trylock(mutex) == 0; }
void timed_unlock(pthread_mutex_t *mutex) NAMED(_ZNSt3__111timed_mutex6unlockEv);
void timed_unlock(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }

/* std::lock of two mutexes, which takes them by turns until it has both. Here they are taken in the order of all objects,
   in which no two threads that do so wait for each other. */
_Bool __synth_is_before(const void *one, const void *other);
void __synth_lock_both(pthread_mutex_t *one, pthread_mutex_t *other);
void __synth_lock_both(pthread_mutex_t *one, pthread_mutex_t *other)
{
    __synth_assumes("who takes several locks at once takes them in the order of their addresses");
    _Bool first = __synth_is_before(one, other);
    pthread_mutex_lock(first ? one : other);
    pthread_mutex_lock(first ? other : one);
}
typedef struct { pthread_mutex_t *mutex; _Bool owns; } synth_unique_lock;
void __synth_lock_unique_both(synth_unique_lock *one, synth_unique_lock *other);
void __synth_lock_unique_both(synth_unique_lock *one, synth_unique_lock *other)
{
    if (!one->mutex || !other->mutex || one->owns || other->owns)
        synth_system_error();
    __synth_lock_both(one->mutex, other->mutex);
    one->owns = other->owns = 1;
}

/* A recursive mutex: the word of its owner, and how often that one has taken it more than once. */
typedef struct { _Atomic int owner; int more; } recursive;

static int synth_number(void) { return (int)(long)pthread_self() + 1; }

void recursive_made(recursive *mutex) NAMED(_ZNSt3__115recursive_mutexC1Ev);
void recursive_made(recursive *mutex)
{
    atomic_init(&mutex->owner, 0);
    mutex->more = 0;
}
void recursive_ended(recursive *mutex) NAMED(_ZNSt3__115recursive_mutexD1Ev);
void recursive_ended(recursive *mutex) { }
_Bool recursive_try_lock(recursive *mutex) NAMED(_ZNSt3__115recursive_mutex8try_lockEv);
_Bool recursive_try_lock(recursive *mutex)
{
    int owner = 0;
    if (atomic_compare_exchange_strong_explicit(&mutex->owner, &owner, synth_number(), memory_order_acquire,
                                                memory_order_relaxed))
        return 1;
    if (owner != synth_number())
        return 0;
    mutex->more++;
    return 1;
}
void recursive_lock(recursive *mutex) NAMED(_ZNSt3__115recursive_mutex4lockEv);
void recursive_lock(recursive *mutex)
{
    while (!recursive_try_lock(mutex)) { }
}
void recursive_unlock(recursive *mutex) NAMED(_ZNSt3__115recursive_mutex6unlockEv);
void recursive_unlock(recursive *mutex)
{
    if (atomic_load_explicit(&mutex->owner, memory_order_relaxed) != synth_number())
        __synth_stops("unlock");
    if (mutex->more)
        mutex->more--;
    else
        atomic_store_explicit(&mutex->owner, 0, memory_order_release);
}

/* A mutex that may be shared, by the beginning of the names of its functions in libc++. The names, for the reader of this
   file: _ZNSt3__119__shared_mutex_baseC1Ev _ZNSt3__119__shared_mutex_base4lockEv
   _ZNSt3__119__shared_mutex_base8try_lockEv _ZNSt3__119__shared_mutex_base6unlockEv
   _ZNSt3__119__shared_mutex_base11lock_sharedEv _ZNSt3__119__shared_mutex_base15try_lock_sharedEv
   _ZNSt3__119__shared_mutex_base13unlock_sharedEv _ZNSt3__118shared_timed_mutexC1Ev
   _ZNSt3__118shared_timed_mutex4lockEv _ZNSt3__118shared_timed_mutex8try_lockEv
   _ZNSt3__118shared_timed_mutex6unlockEv _ZNSt3__118shared_timed_mutex11lock_sharedEv
   _ZNSt3__118shared_timed_mutex15try_lock_sharedEv _ZNSt3__118shared_timed_mutex13unlock_sharedEv */
#define SHARED_MUTEX(name, mangled)                                                                                    \
    void name##_made(pthread_rwlock_t *mutex) NAMED(mangled##C1Ev);                                                    \
    void name##_made(pthread_rwlock_t *mutex) { pthread_rwlock_init(mutex, NULL); }                                    \
    void name##_lock(pthread_rwlock_t *mutex) NAMED(mangled##4lockEv);                                                 \
    void name##_lock(pthread_rwlock_t *mutex) { pthread_rwlock_wrlock(mutex); }                                        \
    _Bool name##_try_lock(pthread_rwlock_t *mutex) NAMED(mangled##8try_lockEv);                                        \
    _Bool name##_try_lock(pthread_rwlock_t *mutex) { return pthread_rwlock_trywrlock(mutex) == 0; }                    \
    void name##_unlock(pthread_rwlock_t *mutex) NAMED(mangled##6unlockEv);                                             \
    void name##_unlock(pthread_rwlock_t *mutex) { pthread_rwlock_unlock(mutex); }                                      \
    void name##_lock_shared(pthread_rwlock_t *mutex) NAMED(mangled##11lock_sharedEv);                                  \
    void name##_lock_shared(pthread_rwlock_t *mutex) { pthread_rwlock_rdlock(mutex); }                                 \
    _Bool name##_try_lock_shared(pthread_rwlock_t *mutex) NAMED(mangled##15try_lock_sharedEv);                         \
    _Bool name##_try_lock_shared(pthread_rwlock_t *mutex) { return pthread_rwlock_tryrdlock(mutex) == 0; }             \
    void name##_unlock_shared(pthread_rwlock_t *mutex) NAMED(mangled##13unlock_sharedEv);                              \
    void name##_unlock_shared(pthread_rwlock_t *mutex) { pthread_rwlock_unlock(mutex); }

SHARED_MUTEX(shared, _ZNSt3__119__shared_mutex_base)
SHARED_MUTEX(shared_timed, _ZNSt3__118shared_timed_mutex)

typedef struct { pthread_mutex_t *mutex; _Bool owns; } unique_lock;

void condition_wait(pthread_cond_t *condition, unique_lock *lock)
    NAMED(_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE);
void condition_wait(pthread_cond_t *condition, unique_lock *lock)
{
    if (!lock->owns)
        synth_system_error();
    pthread_cond_wait(condition, lock->mutex);
}
/* std::cv_status: no_timeout, timeout. Whatever the time is, and whatever clock says it. */
int condition_wait_some(pthread_cond_t *condition, unique_lock *lock, const void *time)
    NAMED(_ZNSt3__118condition_variable10wait_untilEv);
int condition_wait_some(pthread_cond_t *condition, unique_lock *lock, const void *time)
{
    if (!lock->owns)
        synth_system_error();
    pthread_mutex_unlock(lock->mutex);
    pthread_mutex_lock(lock->mutex);
    return __synth_chance(); /* a thread that is woken early goes on as one whose exchange fails for no reason */
}
void condition_one(pthread_cond_t *condition) NAMED(_ZNSt3__118condition_variable10notify_oneEv);
void condition_one(pthread_cond_t *condition) { pthread_cond_signal(condition); }
void condition_all(pthread_cond_t *condition) NAMED(_ZNSt3__118condition_variable10notify_allEv);
void condition_all(pthread_cond_t *condition) { pthread_cond_broadcast(condition); }
void condition_ended(pthread_cond_t *condition) NAMED(_ZNSt3__118condition_variableD1Ev);
void condition_ended(pthread_cond_t *condition) { pthread_cond_destroy(condition); }

/* once, and static variables */

void call_once_of(atomic_ulong *flag, void *argument, void (*function)(void *))
    NAMED(_ZNSt3__111__call_onceERVmPvPFvS2_E);
void call_once_of(atomic_ulong *flag, void *argument, void (*function)(void *))
{
    unsigned long before = 0;
    if (atomic_compare_exchange_strong_explicit(flag, &before, 1, memory_order_acquire, memory_order_acquire)) {
        function(argument);
        atomic_store_explicit(flag, ~0ul, memory_order_release);
    } else {
        while (atomic_load_explicit(flag, memory_order_acquire) != ~0ul) { }
    }
}

/* The first byte of a guard says that a variable is there, the second one that somebody makes it (1), or has (2). */
int __cxa_guard_acquire(atomic_char *guard)
{
    char before = 0;
    if (atomic_compare_exchange_strong_explicit(&guard[1], &before, 1, memory_order_acquire, memory_order_acquire))
        return 1;
    while (atomic_load_explicit(&guard[1], memory_order_acquire) == 1) { }
    return 0;
}
void __cxa_guard_release(atomic_char *guard)
{
    atomic_store_explicit(&guard[0], 1, memory_order_release);
    atomic_store_explicit(&guard[1], 2, memory_order_release);
}

void __cxa_guard_abort(atomic_char *guard) { atomic_store_explicit(&guard[1], 0, memory_order_release); }

int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    __synth_at_exit(function, argument);
    return 0;
}
int __cxa_thread_atexit(void (*function)(void *), void *argument, void *library)
{
    __synth_at_thread_exit(function, argument);
    return 0;
}
int atexit(void (*function)(void))
{
    __synth_at_exit((void (*)(void *))function, NULL);
    return 0;
}

/* atomic objects that are waited for */

static void synth_woken(const void *object)
{
    unsigned *word = __synth_notified(object);
    if (word)
        __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
}
static void synth_woken_one(const void *object)
{
    __synth_assumes("notify_one wakes all who wait for an atomic object");
    synth_woken(object);
}
void all_native(const void *object) NAMED(_ZNSt3__126__atomic_notify_all_nativeILm4EEEvPKv);
void all_native(const void *object) { synth_woken(object); }
void one_native(const void *object) NAMED(_ZNSt3__126__atomic_notify_one_nativeILm4EEEvPKv);
void one_native(const void *object) { synth_woken_one(object); }
void all_native_wide(const void *object) NAMED(_ZNSt3__126__atomic_notify_all_nativeILm8EEEvPKv);
void all_native_wide(const void *object) { synth_woken(object); }
void one_native_wide(const void *object) NAMED(_ZNSt3__126__atomic_notify_one_nativeILm8EEEvPKv);
void one_native_wide(const void *object) { synth_woken_one(object); }
void all_table(const void *object) NAMED(_ZNSt3__132__atomic_notify_all_global_tableEPKv);
void all_table(const void *object) { synth_woken(object); }
void one_table(const void *object) NAMED(_ZNSt3__132__atomic_notify_one_global_tableEPKv);
void one_table(const void *object) { synth_woken_one(object); }
void all_old(const void *object) NAMED(_ZNSt3__123__cxx_atomic_notify_allEPVKv);
void all_old(const void *object) { synth_woken(object); }
void one_old(const void *object) NAMED(_ZNSt3__123__cxx_atomic_notify_oneEPVKv);
void one_old(const void *object) { synth_woken_one(object); }

/* A barrier: how many have come in the phase at hand. The last one is told so. */
typedef struct { ptrdiff_t *expected; atomic_long arrived; } barrier_state;

barrier_state *barrier_made(ptrdiff_t *expected) NAMED(_ZNSt3__134__construct_barrier_algorithm_baseERl);
barrier_state *barrier_made(ptrdiff_t *expected)
{
    barrier_state *barrier = malloc(sizeof(barrier_state));
    barrier->expected = expected;
    atomic_init(&barrier->arrived, 0);
    return barrier;
}
_Bool barrier_arrive(barrier_state *barrier, unsigned char phase)
    NAMED(_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh);
_Bool barrier_arrive(barrier_state *barrier, unsigned char phase)
{
    ptrdiff_t expected = *barrier->expected;
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 != expected)
        return 0;
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    return 1;
}
void barrier_ended(barrier_state *barrier)
    NAMED(_ZNSt3__132__destroy_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseE);
void barrier_ended(barrier_state *barrier) { free(barrier); }

/* shared_ptr: its counts, each less one; behind them, of a virtual table, what is called when they are 0 */
typedef struct counts { void (**table)(struct counts *); atomic_long shared, weak; } counts;

void weak_released(counts *object) NAMED(_ZNSt3__119__shared_weak_count14__release_weakEv);
void *__synth_virtual(const void *object, int number);
void weak_released(counts *object)
{
    if (atomic_load_explicit(&object->weak, memory_order_acquire) == 0
        || atomic_fetch_sub_explicit(&object->weak, 1, memory_order_acq_rel) == 0)
        ((void (*)(counts *))__synth_virtual(object, 4))(object);
}
counts *weak_lock(counts *object) NAMED(_ZNSt3__119__shared_weak_count4lockEv);
counts *weak_lock(counts *object)
{
    long shared = atomic_load_explicit(&object->shared, memory_order_seq_cst);
    while (shared != -1)
        if (atomic_compare_exchange_weak_explicit(&object->shared, &shared, shared + 1, memory_order_seq_cst,
                                                  memory_order_seq_cst))
            return object;
    return NULL;
}
void counts_ended(counts *object) NAMED(_ZNSt3__119__shared_weak_countD2Ev);
void counts_ended(counts *object) { }
void count_ended(counts *object) NAMED(_ZNSt3__114__shared_countD2Ev);
void count_ended(counts *object) { }

/* std::atomic_load and the like of a shared_ptr: a lock beside each */
_Atomic int *__synth_beside(const void *object);
_Atomic int *lock_of_pointer(const void *object) NAMED(_ZNSt3__112__get_sp_mutEPKv);
_Atomic int *lock_of_pointer(const void *object)
{
    _Atomic int *word = __synth_beside(object);
    if (!word)
        __synth_refuses("an atomic access to a shared_ptr by its address from memory");
    return word;
}
void pointer_lock(_Atomic int *word) NAMED(_ZNSt3__18__sp_mut4lockEv);
void pointer_lock(_Atomic int *word)
{
    int held = 0;
    while (!atomic_compare_exchange_strong_explicit(word, &held, 1, memory_order_acquire, memory_order_relaxed))
        held = 0;
}
void pointer_unlock(_Atomic int *word) NAMED(_ZNSt3__18__sp_mut6unlockEv);
void pointer_unlock(_Atomic int *word) { atomic_store_explicit(word, 0, memory_order_release); }

/* std::notify_all_at_thread_exit, whose lock is given away */
typedef struct { pthread_cond_t *condition; pthread_mutex_t *mutex; } synth_notice;
static void synth_notify_at_exit(void *argument)
{
    synth_notice *notice = argument;
    pthread_cond_broadcast(notice->condition);
    pthread_mutex_unlock(notice->mutex);
    free(notice);
}
void notify_at_exit(pthread_cond_t *condition, unique_lock *lock)
    NAMED(_ZNSt3__125notify_all_at_thread_exitERNS_18condition_variableENS_11unique_lockINS_5mutexEEE);
void notify_at_exit(pthread_cond_t *condition, unique_lock *lock)
{
    synth_notice *notice = malloc(sizeof(synth_notice));
    notice->condition = condition;
    notice->mutex = lock->mutex;
    lock->mutex = NULL;
    lock->owns = 0;
    __synth_at_thread_exit(synth_notify_at_exit, notice);
}

void bad_cast(void) NAMED(__cxa_bad_cast);
extern const char synth_type_of_bad_cast NAMED(_ZTISt8bad_cast);
void bad_cast(void) { __cxa_throw(__cxa_allocate_exception(16), &synth_type_of_bad_cast, NULL); }

unsigned long next_prime(unsigned long least) NAMED(_ZNSt3__112__next_primeEm);
unsigned long next_prime(unsigned long least)
{
    if (least <= 2)
        return least == 0 ? 0 : 2;
    for (unsigned long number = least | 1;; number += 2) {
        unsigned long divisor = 3;
        while (divisor * divisor <= number && number % divisor != 0)
            divisor += 2;
        if (divisor * divisor > number)
            return number;
    }
}

#define SORTED(name, type, mangled)                                                                                    \
    void sort_##name(type *begin, type *end, void *less) NAMED(_ZNSt3__16__sort##mangled##EEvT0_S5_T_);                \
    void sort_##name(type *begin, type *end, void *less)                                                               \
    {                                                                                                                  \
        for (type *next = begin; next != end; next++)                                                                  \
            for (type *place = next; place != begin && place[0] < place[-1]; place--) {                                \
                type held = place[0];                                                                                  \
                place[0] = place[-1];                                                                                  \
                place[-1] = held;                                                                                      \
            }                                                                                                          \
    }
SORTED(ints, int, IRNS_6__lessIiiEEPi)
SORTED(unsigneds, unsigned, IRNS_6__lessIjjEEPj)
SORTED(longs, long, IRNS_6__lessIllEEPl)
SORTED(sizes, unsigned long, IRNS_6__lessImmEEPm)
SORTED(doubles, double, IRNS_6__lessIddEEPd)
/* _ZNSt3__16__sortIRNS_6__lessIiiEEPiEEvT0_S5_T_ _ZNSt3__16__sortIRNS_6__lessIjjEEPjEEvT0_S5_T_
   _ZNSt3__16__sortIRNS_6__lessIllEEPlEEvT0_S5_T_ _ZNSt3__16__sortIRNS_6__lessImmEEPmEEvT0_S5_T_
   _ZNSt3__16__sortIRNS_6__lessIddEEPdEEvT0_S5_T_ */
