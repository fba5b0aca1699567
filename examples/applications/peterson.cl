// Peterson's lock (1981): two work-groups count, and no increment may be lost.
//
// Each store to `turn` has to be visible before the other's flag is read: place 1. Place 0 instead is not enough: then
// `turn` is still in the store buffer, and overwrites the other's. On x86, which lets stores wait and nothing else, no
// other fence helps, and no other is needed. Weaker machines need 0 as well (first the flag, then the turn), one
// behind the loop (4) and one before the flag falls (6): peterson.litmus.
#define GROUPS 2u
#define CELLS 4
#define WRONG "increments lost"
#include "application.h"

enum { FLAG, TURN = 2, COUNTER };

DEVICE void play(Memory memory, unsigned me, unsigned seed) {
    const unsigned other = 1 - me;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        set(memory, FLAG + me, 1);
        SYNTH_FENCE(0);
        set(memory, TURN, other);
        SYNTH_FENCE(1);
        for (unsigned looked = 1;; wait_again(looked++)) {
            const unsigned wanted = get(memory, FLAG + other);
            SYNTH_FENCE(2);
            if (!wanted) break;
            const unsigned whose = get(memory, TURN);
            SYNTH_FENCE(3);
            if (whose != other) break;
        }
        SYNTH_FENCE(4);
        const unsigned counted = get(memory, COUNTER);
        SYNTH_FENCE(5);
        set(memory, COUNTER, counted + 1);
        SYNTH_FENCE(6);
        set(memory, FLAG + me, 0);
        SYNTH_FENCE(7);
        seed = drift(seed);
    }
}

DEVICE unsigned wrong(Memory memory) { return GROUPS * ROUNDS - get(memory, COUNTER); }
