/* What libc++ leaves in its library of futures, and of exceptions that are kept: the state that a promise and its futures
   share, std::promise<void> and std::future<void>, std::exception_ptr, std::future_error. An exception that is kept is
   known by the address of its object, and is never destroyed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#define NAMED(name) __asm__(#name)

void __synth_at_thread_exit(void (*function)(void *), void *argument);
void *__synth_current_exception(void);
void __synth_throw_kept(void *exception);
void *__synth_virtual(const void *object, int number);
void __synth_assumes(const char *what);

void *__cxa_allocate_exception(size_t size);
void *__cxa_init_primary_exception(void *object, const void *type, void (*destroy)(void *));
void __cxa_throw(void *object, const void *type, void (*destroy)(void *));
void synth_terminate(void) NAMED(_ZSt9terminatev);

/* std::exception_ptr: the address of an exception */

void exception_ptr_ended(void **pointer) NAMED(_ZNSt13exception_ptrD1Ev);
void exception_ptr_ended(void **pointer) { }
void exception_ptr_copied(void **pointer, void *const *other) NAMED(_ZNSt13exception_ptrC1ERKS_);
void exception_ptr_copied(void **pointer, void *const *other) { *pointer = *other; }
void **exception_ptr_assigned(void **pointer, void *const *other) NAMED(_ZNSt13exception_ptraSERKS_);
void **exception_ptr_assigned(void **pointer, void *const *other)
{
    *pointer = *other;
    return pointer;
}
void exception_ptr_of(void **result, void *exception) NAMED(_ZNSt13exception_ptr31__from_native_exception_pointerEPv);
void exception_ptr_of(void **result, void *exception) { *result = exception; }
void current_exception(void **result) NAMED(_ZSt17current_exceptionv);
void current_exception(void **result) { *result = __synth_current_exception(); }
void rethrow_exception(void **pointer) NAMED(_ZSt17rethrow_exceptionSt13exception_ptr);
void rethrow_exception(void **pointer) { __synth_throw_kept(*pointer); }

/* std::future_error */

typedef struct { int number; const void *category; } synth_code;
typedef struct { const void *const *table; const char *text; synth_code code; } synth_future_error;
enum { RETRIEVED = 1, SATISFIED, NO_STATE, BROKEN };

extern const char synth_type_of_future_error NAMED(_ZTINSt3__112future_errorE);
static const char synth_future_category;
const void *future_category(void) NAMED(_ZNSt3__115future_categoryEv);
const void *future_category(void) { return &synth_future_category; }
void future_error_ended(synth_future_error *error) NAMED(_ZNSt3__112future_errorD1Ev);
void future_error_ended(synth_future_error *error) { }
void future_error_deleted(synth_future_error *error) NAMED(_ZNSt3__112future_errorD0Ev);
void future_error_deleted(synth_future_error *error) { free(error); }
const char *synth_what(const synth_future_error *error) NAMED(_ZNKSt11logic_error4whatEv);
extern const void *const synth_table_of_future_error[5] NAMED(_ZTVNSt3__112future_errorE);
const void *const synth_table_of_future_error[5] = {
    0, &synth_type_of_future_error, future_error_ended, future_error_deleted, synth_what};
void future_error_made(synth_future_error *error, synth_code code) NAMED(_ZNSt3__112future_errorC1ENS_10error_codeE);
void future_error_made(synth_future_error *error, synth_code code)
{
    error->table = &synth_table_of_future_error[2];
    error->text = "a future error";
    error->code = code;
}

static void *synth_new_future_error(int number)
{
    synth_future_error *error = __cxa_allocate_exception(sizeof(synth_future_error));
    future_error_made(error, (synth_code){number, &synth_future_category});
    return error;
}
static void synth_throw_future_error(int number)
{
    __cxa_throw(synth_new_future_error(number), &synth_type_of_future_error, (void (*)(void *))future_error_ended);
}

/* the state that is shared */

typedef struct synth_state {
    void (*const *table)(struct synth_state *);
    atomic_long shared; /* less one */
    void *exception;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    unsigned flags;
} synth_state;
typedef struct { pthread_mutex_t *mutex; _Bool owns; } synth_unique;
enum { CONSTRUCTED = 1, ATTACHED = 2, READY = 4, DEFERRED = 8 };
enum { ON_ZERO = 2, EXECUTE = 3 };

static void synth_release(synth_state *state)
{
    if (atomic_fetch_sub_explicit(&state->shared, 1, memory_order_acq_rel) == 0)
        ((void (*)(synth_state *))__synth_virtual(state, ON_ZERO))(state);
}

static _Bool synth_has_value(synth_state *state) { return (state->flags & CONSTRUCTED) || state->exception; }

/* Make a state ready, which has no value yet. */
static void synth_satisfied(synth_state *state, void *exception, unsigned flags)
{
    pthread_mutex_lock(&state->mutex);
    if (synth_has_value(state)) {
        pthread_mutex_unlock(&state->mutex);
        synth_throw_future_error(SATISFIED);
    }
    if (exception)
        state->exception = exception;
    state->flags |= flags;
    if (flags & READY)
        pthread_cond_broadcast(&state->condition);
    pthread_mutex_unlock(&state->mutex);
}

void state_made_ready(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_state12__make_readyEv);
void state_made_ready(synth_state *state)
{
    pthread_mutex_lock(&state->mutex);
    state->flags |= READY;
    pthread_cond_broadcast(&state->condition);
    pthread_mutex_unlock(&state->mutex);
}
void state_set_value(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_state9set_valueEv);
void state_set_value(synth_state *state) { synth_satisfied(state, NULL, CONSTRUCTED | READY); }
void state_set_exception(synth_state *state, void **exception)
    NAMED(_ZNSt3__117__assoc_sub_state13set_exceptionESt13exception_ptr);
void state_set_exception(synth_state *state, void **exception) { synth_satisfied(state, *exception, READY); }

static void synth_ready_at_exit(void *state)
{
    state_made_ready(state);
    synth_release(state);
}
void ready_at_exit(void *thread, synth_state *state)
    NAMED(_ZNSt3__115__thread_struct27__make_ready_at_thread_exitEPNS_17__assoc_sub_stateE);
void ready_at_exit(void *thread, synth_state *state)
{
    atomic_fetch_add_explicit(&state->shared, 1, memory_order_relaxed);
    __synth_at_thread_exit(synth_ready_at_exit, state);
}
void state_value_at_exit(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_state24set_value_at_thread_exitEv);
void state_value_at_exit(synth_state *state)
{
    synth_satisfied(state, NULL, CONSTRUCTED);
    ready_at_exit(NULL, state);
}
void state_exception_at_exit(synth_state *state, void **exception)
    NAMED(_ZNSt3__117__assoc_sub_state28set_exception_at_thread_exitESt13exception_ptr);
void state_exception_at_exit(synth_state *state, void **exception)
{
    synth_satisfied(state, *exception, 0);
    ready_at_exit(NULL, state);
}

/* Wait, holding the mutex of the state, which is given back where what is put off is done. */
static void synth_wait(synth_state *state, _Bool *owns)
{
    if (!(state->flags & READY) && (state->flags & DEFERRED)) {
        state->flags &= ~(unsigned)DEFERRED;
        pthread_mutex_unlock(&state->mutex);
        *owns = 0;
        ((void (*)(synth_state *))__synth_virtual(state, EXECUTE))(state);
        return;
    }
    while (!(state->flags & READY))
        pthread_cond_wait(&state->condition, &state->mutex);
}

/* Wait for a result; the exception that is there in its place, NULL where none is. */
static void *synth_waited(synth_state *state)
{
    _Bool owns = 1;
    pthread_mutex_lock(&state->mutex);
    synth_wait(state, &owns);
    void *exception = state->exception;
    if (owns)
        pthread_mutex_unlock(&state->mutex);
    return exception;
}

void state_wait_locked(synth_state *state, synth_unique *lock)
    NAMED(_ZNSt3__117__assoc_sub_state10__sub_waitERNS_11unique_lockINS_5mutexEEE);
void state_wait_locked(synth_state *state, synth_unique *lock) { synth_wait(state, &lock->owns); }
void state_wait(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_state4waitEv);
void state_wait(synth_state *state)
{
    synth_waited(state);
}
void state_copy(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_state4copyEv);
void state_copy(synth_state *state)
{
    void *exception = synth_waited(state);
    if (exception)
        __synth_throw_kept(exception);
}
/* std::future_status: ready, timeout, deferred */
int state_wait_some(synth_state *state, const void *until) NAMED(_ZNKSt3__117__assoc_sub_state10wait_untilEv);
int state_wait_some(synth_state *state, const void *until)
{
    __synth_assumes("who waits for a future for some time gets it or gives up at once");
    pthread_mutex_lock(&state->mutex);
    unsigned flags = state->flags;
    pthread_mutex_unlock(&state->mutex);
    return flags & DEFERRED ? 2 : flags & READY ? 0 : 1;
}

void state_ended(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_stateD1Ev);
void state_ended(synth_state *state)
{
    pthread_cond_destroy(&state->condition);
    pthread_mutex_destroy(&state->mutex);
}
void state_deleted(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_stateD0Ev);
void state_deleted(synth_state *state)
{
    state_ended(state);
    free(state);
}
void state_unused(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_state16__on_zero_sharedEv);
void state_unused(synth_state *state) { state_deleted(state); }
void state_execute(synth_state *state) NAMED(_ZNSt3__117__assoc_sub_state9__executeEv);
void state_execute(synth_state *state) { synth_terminate(); } /* of a state of which nothing is put off */
extern const char synth_type_of_state NAMED(_ZTINSt3__117__assoc_sub_stateE);
extern const void *const synth_table_of_state[6] NAMED(_ZTVNSt3__117__assoc_sub_stateE);
const void *const synth_table_of_state[6] = {
    0, &synth_type_of_state, state_ended, state_deleted, state_unused, state_execute};

/* std::promise<void>, std::future<void>, std::shared_future<void>: the address of the state */

static synth_state *synth_needed(synth_state *state)
{
    if (!state)
        synth_throw_future_error(NO_STATE);
    return state;
}
void promise_made(synth_state **promise) NAMED(_ZNSt3__17promiseIvEC1Ev);
void promise_made(synth_state **promise)
{
    synth_state *state = malloc(sizeof(synth_state));
    state->table = (void (*const *)(synth_state *))&synth_table_of_state[2];
    atomic_init(&state->shared, 0);
    state->exception = NULL;
    pthread_mutex_init(&state->mutex, NULL);
    pthread_cond_init(&state->condition, NULL);
    state->flags = 0;
    *promise = state;
}
void promise_ended(synth_state **promise) NAMED(_ZNSt3__17promiseIvED1Ev);
void promise_ended(synth_state **promise)
{
    synth_state *state = *promise;
    if (!state)
        return;
    if (!synth_has_value(state) && atomic_load_explicit(&state->shared, memory_order_relaxed) > 0) {
        void *error = synth_new_future_error(BROKEN);
        __cxa_init_primary_exception(error, &synth_type_of_future_error, (void (*)(void *))future_error_ended);
        state_set_exception(state, &error);
    }
    synth_release(state);
}
void promise_future(synth_state **future, synth_state **promise) NAMED(_ZNSt3__17promiseIvE10get_futureEv);
void promise_future(synth_state **future, synth_state **promise)
{
    synth_state *state = synth_needed(*promise);
    pthread_mutex_lock(&state->mutex);
    _Bool before = (state->flags & ATTACHED) != 0;
    if (!before) {
        atomic_fetch_add_explicit(&state->shared, 1, memory_order_relaxed);
        state->flags |= ATTACHED;
    }
    pthread_mutex_unlock(&state->mutex);
    if (before)
        synth_throw_future_error(RETRIEVED);
    *future = state;
}
void future_made(synth_state **future, synth_state *state) NAMED(_ZNSt3__16futureIvEC1EPNS_17__assoc_sub_stateE);
void future_made(synth_state **future, synth_state *state) { promise_future(future, &state); }
void promise_set(synth_state **promise) NAMED(_ZNSt3__17promiseIvE9set_valueEv);
void promise_set(synth_state **promise) { state_set_value(synth_needed(*promise)); }
void promise_set_exception(synth_state **promise, void **exception)
    NAMED(_ZNSt3__17promiseIvE13set_exceptionESt13exception_ptr);
void promise_set_exception(synth_state **promise, void **exception)
{
    state_set_exception(synth_needed(*promise), exception);
}
void promise_at_exit(synth_state **promise) NAMED(_ZNSt3__17promiseIvE24set_value_at_thread_exitEv);
void promise_at_exit(synth_state **promise) { state_value_at_exit(synth_needed(*promise)); }
void future_ended(synth_state **future) NAMED(_ZNSt3__16futureIvED1Ev);
void future_ended(synth_state **future)
{
    if (*future)
        synth_release(*future);
}
void future_get(synth_state **future) NAMED(_ZNSt3__16futureIvE3getEv);
void future_get(synth_state **future)
{
    synth_state *state = *future;
    *future = NULL;
    void *exception = synth_waited(state);
    synth_release(state);
    if (exception)
        __synth_throw_kept(exception);
}
void shared_future_ended(synth_state **future) NAMED(_ZNSt3__113shared_futureIvED1Ev);
void shared_future_ended(synth_state **future) { future_ended(future); }
synth_state **shared_future_assigned(synth_state **future, synth_state *const *other)
    NAMED(_ZNSt3__113shared_futureIvEaSERKS1_);
synth_state **shared_future_assigned(synth_state **future, synth_state *const *other)
{
    if (*other)
        atomic_fetch_add_explicit(&(*other)->shared, 1, memory_order_relaxed);
    if (*future)
        synth_release(*future);
    *future = *other;
    return future;
}
