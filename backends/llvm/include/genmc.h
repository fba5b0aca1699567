/* The words of GenMC by which a program says what it takes for granted and what may be skipped, for programs that were
   written for it. Hints that only save a checker work are nothing here. */
#ifndef SYNTH_GENMC_H
#define SYNTH_GENMC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef long __VERIFIER_thread_t;
typedef struct { void *object; } __VERIFIER_hp_t;

void __VERIFIER_assume(bool);
int __VERIFIER_nondet_int(void);
__VERIFIER_thread_t __VERIFIER_spawn(void *(*)(void *), void *);
void *__VERIFIER_join(__VERIFIER_thread_t);
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(bool);
void __VERIFIER_method_begin(const char *, int32_t);
void __VERIFIER_method_end(const char *, int32_t);
__VERIFIER_hp_t *__VERIFIER_hp_alloc(void);
void __VERIFIER_recovery_routine(void);
void __VERIFIER_pbarrier(void);
void *__VERIFIER_palloc(size_t);
void __VERIFIER_hazptr_protect(__VERIFIER_hp_t *, void *);
void __VERIFIER_hp_clear(__VERIFIER_hp_t *);
void __VERIFIER_hp_free(__VERIFIER_hp_t *);
void __VERIFIER_hp_retire(void *);

#ifdef __cplusplus
}
#endif

#define __VERIFIER_spawn_symmetric(function, argument, thread) __VERIFIER_spawn((function), (argument))
#define __VERIFIER_join_symmetric(thread) ((void)__VERIFIER_join(thread))
#define __VERIFIER_local_write(statement) do { statement; } while (0)
#define __VERIFIER_final_write(statement) do { statement; } while (0)
#define __VERIFIER_helped_CAS(exchange) do { exchange; } while (0)
#define __VERIFIER_helping_CAS(exchange) do { exchange; } while (0)
#define __VERIFIER_CAS_helped_explicit atomic_compare_exchange_strong_explicit
#define __VERIFIER_CAS_helping_explicit atomic_compare_exchange_strong_explicit
#define __VERIFIER_speculative_read(value) (value)
#define __VERIFIER_confirming_read(value) (value)
#define __VERIFIER_confirming_CAS(value) (value)
#define __VERIFIER_final_CAS(value) (value)
#define __VERIFIER_optional(statement) do { statement; } while (0)
#define __VERIFIER_persistent_storage(declared) declared
#define __VERIFIER_hp_protect(hazard, place)                            \
    ({                                                                  \
        void *read__ = __atomic_load_n((void **)(place), __ATOMIC_ACQUIRE); \
        __VERIFIER_hazptr_protect((hazard), read__);                    \
        read__;                                                         \
    })

#endif
