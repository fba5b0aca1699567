#pragma once
#include <stddef.h>
#include <stdint.h>
typedef enum {
    memory_order_relaxed, memory_order_consume, memory_order_acquire,
    memory_order_release, memory_order_acq_rel, memory_order_seq_cst
} memory_order;
typedef _Atomic _Bool atomic_bool;
typedef _Atomic char atomic_char;
typedef _Atomic signed char atomic_schar;
typedef _Atomic unsigned char atomic_uchar;
typedef _Atomic short atomic_short;
typedef _Atomic unsigned short atomic_ushort;
typedef _Atomic int atomic_int;
typedef _Atomic unsigned int atomic_uint;
typedef _Atomic long atomic_long;
typedef _Atomic unsigned long atomic_ulong;
typedef _Atomic long long atomic_llong;
typedef _Atomic unsigned long long atomic_ullong;
typedef _Atomic intptr_t atomic_intptr_t;
typedef _Atomic uintptr_t atomic_uintptr_t;
typedef _Atomic size_t atomic_size_t;
typedef _Atomic ptrdiff_t atomic_ptrdiff_t;
typedef _Atomic int32_t atomic_int_least32_t, atomic_int_fast32_t;
typedef _Atomic uint32_t atomic_uint_least32_t, atomic_uint_fast32_t;
typedef _Atomic int64_t atomic_int_least64_t, atomic_int_fast64_t;
typedef _Atomic uint64_t atomic_uint_least64_t, atomic_uint_fast64_t;
typedef struct { _Atomic int value; } atomic_flag;
#define ATOMIC_FLAG_INIT { 0 }
#define ATOMIC_VAR_INIT(value) (value)
#define kill_dependency(value) (value)

static inline _Bool atomic_flag_test_and_set_explicit(volatile atomic_flag *flag, memory_order order)
{
    return atomic_exchange_explicit(&flag->value, 1, order);
}

static inline void atomic_flag_clear_explicit(volatile atomic_flag *flag, memory_order order)
{
    atomic_store_explicit(&flag->value, 0, order);
}

#define atomic_flag_test_and_set(flag) atomic_flag_test_and_set_explicit(flag, memory_order_seq_cst)
#define atomic_flag_clear(flag) atomic_flag_clear_explicit(flag, memory_order_seq_cst)
