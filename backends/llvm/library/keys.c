/* Values that each thread has for itself by a key (POSIX, pthread_key_create; C11 7.26.6), and what destroys them. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <threads.h>

void __synth_stops(const char *why);
void __synth_assumes(const char *what);
void __synth_refuses(const char *what);
_Bool __synth_is_known(unsigned long value);
void __synth_at_end_of_thread(void (*function)(void *), void *argument); /* by pthread_exit or a return, not by exit */

enum { KEYS = 16, ALIVE = 1, DELETED = 2 };
typedef struct { _Atomic int state; void (*destroy)(void *); } synth_key_of;
static synth_key_of synth_keys[KEYS] = {{ALIVE, NULL}}; /* the first one is libc++'s */
static atomic_uint synth_next = 1;
static _Thread_local const void *synth_values[KEYS];
static _Thread_local _Bool synth_ends[KEYS]; /* whether the value is destroyed at the end of the thread */
static _Thread_local int synth_last;         /* the key of the last value that is */

/* A key that there is, as a number that is known. */
static unsigned synth_key_at(unsigned key)
{
    if (!__synth_is_known(key))
        __synth_refuses("a key of values of threads that memory decides");
    if (key >= KEYS || atomic_load_explicit(&synth_keys[key].state, memory_order_relaxed) != ALIVE)
        __synth_stops("key");
    return key;
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    unsigned number = atomic_fetch_add_explicit(&synth_next, 1, memory_order_relaxed);
    if (number >= KEYS)
        return EAGAIN;
    synth_keys[number].destroy = destroy;
    atomic_store_explicit(&synth_keys[number].state, ALIVE, memory_order_relaxed);
    *key = number;
    return 0;
}

int pthread_key_delete(pthread_key_t key)
{
    unsigned number = synth_key_at(key);
    if (atomic_exchange_explicit(&synth_keys[number].state, DELETED, memory_order_relaxed) != ALIVE)
        __synth_stops("key");
    return 0;
}

void *pthread_getspecific(pthread_key_t key) { return (void *)synth_values[synth_key_at(key)]; }

static void synth_end_value(void *key)
{
    unsigned number = (unsigned)(size_t)key;
    void *value = (void *)synth_values[number];
    synth_ends[number] = 0;
    synth_values[number] = NULL;
    if (!__synth_is_known((unsigned long)synth_keys[number].destroy))
        __synth_refuses("a destructor that memory decides");
    if (value && atomic_load_explicit(&synth_keys[number].state, memory_order_relaxed) == ALIVE)
        synth_keys[number].destroy(value);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    unsigned number = synth_key_at(key);
    synth_values[number] = value;
    if (value && synth_keys[number].destroy && !synth_ends[number]) {
        synth_ends[number] = 1;
        if (synth_last && synth_last != (int)number)
            __synth_assumes("the values of a thread are destroyed from the last one on, by their keys");
        synth_last = (int)number;
        __synth_at_end_of_thread(synth_end_value, (void *)(size_t)number);
    }
    return 0;
}

int tss_create(tss_t *key, tss_dtor_t destroy)
{
    return pthread_key_create((pthread_key_t *)key, destroy) == 0 ? thrd_success : thrd_error;
}
void tss_delete(tss_t key) { pthread_key_delete((pthread_key_t)key); }
void *tss_get(tss_t key) { return pthread_getspecific((pthread_key_t)key); }
int tss_set(tss_t key, void *value)
{
    return pthread_setspecific((pthread_key_t)key, value) == 0 ? thrd_success : thrd_error;
}
