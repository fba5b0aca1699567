/* Words of verifiers: a bit that may be either, and what happens as one. */
#include <stdatomic.h>
#include <stdbool.h>

void __synth_assumes(const char *what);

static _Atomic int verifier_bits, verifier_block;

/* As a weak exchange may fail. */
bool __VERIFIER_nondet_bool(void)
{
    int before = 0;
    return !atomic_compare_exchange_weak_explicit(&verifier_bits, &before, 0, memory_order_relaxed,
                                                  memory_order_relaxed);
}

void __VERIFIER_atomic_begin(void)
{
    int before = 0;
    __synth_assumes("what is between __VERIFIER_atomic_begin and _end excludes other such blocks, and nothing else");
    while (!atomic_compare_exchange_strong_explicit(&verifier_block, &before, 1, memory_order_acquire,
                                                    memory_order_relaxed))
        before = 0;
}

void __VERIFIER_atomic_end(void) { atomic_store_explicit(&verifier_block, 0, memory_order_release); }
