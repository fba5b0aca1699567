// Dekker's lock (1962): two work-groups count, and no increment may be lost.
//
// One raises its flag and reads the other's, the first time (place 0) and again after it gave way (place 5): both
// stores have to be visible before the load. On x86 no other fence is needed; weaker machines need one behind the loop
// (6) and one before the flag falls (8 or 9), too: dekker.litmus.
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
        for (unsigned looked = 1; get(memory, FLAG + other); wait_again(looked++)) {
            SYNTH_FENCE(1);
            if (get(memory, TURN) == me) {
                SYNTH_FENCE(2);
                continue;
            }
            set(memory, FLAG + me, 0);
            SYNTH_FENCE(3);
            while (get(memory, TURN) != me) wait_again(looked++);
            SYNTH_FENCE(4);
            set(memory, FLAG + me, 1);
            SYNTH_FENCE(5);
        }
        SYNTH_FENCE(6);
        const unsigned counted = get(memory, COUNTER);
        SYNTH_FENCE(7);
        set(memory, COUNTER, counted + 1);
        SYNTH_FENCE(8);
        set(memory, TURN, other);
        SYNTH_FENCE(9);
        set(memory, FLAG + me, 0);
        SYNTH_FENCE(10);
        seed = drift(seed);
    }
}

DEVICE unsigned wrong(Memory memory) { return GROUPS * ROUNDS - get(memory, COUNTER); }
