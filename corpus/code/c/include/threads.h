#pragma once
#include <pthread.h>

typedef pthread_t thrd_t;
typedef int (*thrd_start_t)(void *);
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_once_t once_flag;
#define thread_local _Thread_local
#define ONCE_FLAG_INIT PTHREAD_ONCE_INIT
enum { thrd_success, thrd_nomem, thrd_timedout, thrd_busy, thrd_error };
enum { mtx_plain, mtx_recursive, mtx_timed };

static inline int mtx_init(mtx_t *mutex, int kind) { return pthread_mutex_init(mutex, NULL); }
static inline int mtx_lock(mtx_t *mutex) { return pthread_mutex_lock(mutex); }
static inline int mtx_trylock(mtx_t *mutex) { return pthread_mutex_trylock(mutex) == 0 ? thrd_success : thrd_busy; }
static inline int mtx_unlock(mtx_t *mutex) { return pthread_mutex_unlock(mutex); }
static inline void mtx_destroy(mtx_t *mutex) { }
static inline int cnd_init(cnd_t *condition) { return pthread_cond_init(condition, NULL); }
static inline int cnd_signal(cnd_t *condition) { return pthread_cond_signal(condition); }
static inline int cnd_broadcast(cnd_t *condition) { return pthread_cond_broadcast(condition); }
static inline int cnd_wait(cnd_t *condition, mtx_t *mutex) { return pthread_cond_wait(condition, mutex); }
static inline void cnd_destroy(cnd_t *condition) { }
static inline void call_once(once_flag *flag, void (*routine)(void)) { pthread_once(flag, routine); }
