/* Words of verifiers: a bit that may be either, numbers that nothing tells, and what happens as one; and what gives such
   numbers in C: rand and clocks. Calls of rand by several threads do not race, as in all libraries at hand. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

void __synth_assumes(const char *what);
unsigned long __synth_untold(const char *what);

_Bool __synth_chance(void);

static _Atomic int verifier_block;

bool __VERIFIER_nondet_bool(void) { return !__synth_chance(); } /* who waits for a 0 does not wait for ever */

void __VERIFIER_atomic_begin(void)
{
    int before = 0;
    __synth_assumes("what is between __VERIFIER_atomic_begin and _end excludes other such blocks, and nothing else");
    while (!atomic_compare_exchange_strong_explicit(&verifier_block, &before, 1, memory_order_acquire,
                                                    memory_order_relaxed))
        before = 0;
}

void __VERIFIER_atomic_end(void) { atomic_store_explicit(&verifier_block, 0, memory_order_release); }

/* One of so many numbers, from 0 on: 16 at most. */
int __synth_chosen(int count)
{
    unsigned value = 0;
    for (int bit = 1; bit < count; bit <<= 1)
        value |= bit * (unsigned)__synth_chance();
    return (int)(count & (count - 1) ? value % count : value);
}

long __synth_chosen_long(long count) { return __synth_chosen((int)count); }
int __synth_chosen_signed(int count) { return __synth_chosen(2 * count - 1) - (count - 1); }
long __synth_chosen_signed_long(long count) { return __synth_chosen_signed((int)count); }

#define UNTOLD(name) __synth_untold("what " #name " gives")

int __VERIFIER_nondet_int(void) { return (int)UNTOLD(__VERIFIER_nondet_int); }
unsigned __VERIFIER_nondet_uint(void) { return (unsigned)UNTOLD(__VERIFIER_nondet_uint); }
unsigned __VERIFIER_nondet_u32(void) { return (unsigned)UNTOLD(__VERIFIER_nondet_u32); }
long __VERIFIER_nondet_long(void) { return (long)UNTOLD(__VERIFIER_nondet_long); }
unsigned long __VERIFIER_nondet_ulong(void) { return UNTOLD(__VERIFIER_nondet_ulong); }
long long __VERIFIER_nondet_longlong(void) { return (long long)UNTOLD(__VERIFIER_nondet_longlong); }
size_t __VERIFIER_nondet_size_t(void) { return UNTOLD(__VERIFIER_nondet_size_t); }
short __VERIFIER_nondet_short(void) { return (short)UNTOLD(__VERIFIER_nondet_short); }
unsigned short __VERIFIER_nondet_ushort(void) { return (unsigned short)UNTOLD(__VERIFIER_nondet_ushort); }
char __VERIFIER_nondet_char(void) { return (char)UNTOLD(__VERIFIER_nondet_char); }
unsigned char __VERIFIER_nondet_uchar(void) { return (unsigned char)UNTOLD(__VERIFIER_nondet_uchar); }

int rand(void) { return (int)UNTOLD(rand); }
long random(void) { return (long)UNTOLD(random); }
int rand_r(unsigned *seed)
{
    *seed = *seed * 0 + (unsigned)UNTOLD(rand_r);
    return (int)UNTOLD(rand_r);
}

clock_t clock(void) { return (clock_t)UNTOLD(clock); }
time_t time(time_t *target)
{
    time_t now = (time_t)UNTOLD(time);
    if (target)
        *target = now;
    return now;
}
double difftime(time_t late, time_t early) { return (double)(late - early); }

static void synth_now(struct timespec *target, unsigned long seconds, unsigned long rest)
{
    target->tv_sec = (time_t)seconds;
    target->tv_nsec = (long)rest;
}

int timespec_get(struct timespec *target, int base)
{
    synth_now(target, UNTOLD(timespec_get), UNTOLD(timespec_get));
    return base;
}
int clock_gettime(clockid_t which, struct timespec *target)
{
    synth_now(target, UNTOLD(clock_gettime), UNTOLD(clock_gettime));
    return 0;
}
int gettimeofday(struct timeval *restrict target, void *restrict zone)
{
    target->tv_sec = (time_t)UNTOLD(gettimeofday);
    target->tv_usec = (suseconds_t)UNTOLD(gettimeofday);
    return 0;
}

/* Sleeping takes no time that anybody sees; what is left of it is written where a signal ends it, of which there is none. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
    struct timespec asked = *time;
    return 0;
}
int thrd_sleep(const struct timespec *time, struct timespec *left) { return nanosleep(time, left); }
int clock_nanosleep(clockid_t which, int flags, const struct timespec *time, struct timespec *left)
{
    return nanosleep(time, left);
}
