// The work-stealing deque of Chase and Lev (2005), without growth: its owner pushes items and takes them back at one
// end, a thief steals them at the other, and each item has to be had once.
//
// The owner lowers `bottom` and then reads `top`, and the store has to be visible before that: place 4. Otherwise a
// thief who still sees the old `bottom` steals the item that the owner takes: deque-take.litmus. On x86 no other fence
// is needed. On weaker machines (Le et al. 2013) the thief needs one between `top` and `bottom` (10), and an item has to
// be there when `bottom` says so: 1 where it is pushed, 11 where it is stolen (deque-push.litmus).
#define GROUPS 2u
#define SIZE 64
#define NOTHING 0u
#define CELLS (SIZE + 5)
#define WRONG "off the sum of the items had"
#include "application.h"

enum { TOP, BOTTOM, ENDED, HAD, ITEMS = 5, BATCH = 3 };

// Indices are signed: `bottom` falls below `top` for a moment where the deque is empty.
DEVICE int index(Memory memory, unsigned end) { return (int)get(memory, end); }

DEVICE void push(Memory memory, unsigned item) {
    const int last = index(memory, BOTTOM);
    SYNTH_FENCE(0);
    set(memory, ITEMS + last % SIZE, item);
    SYNTH_FENCE(1);
    set(memory, BOTTOM, last + 1);
    SYNTH_FENCE(2);
}

// Whether the item at `first` is the caller's: whoever moves `top` on has it.
DEVICE bool wins(Memory memory, int first) { return replaced(at(memory, TOP), first, first + 1); }

DEVICE unsigned take(Memory memory) {
    const int last = index(memory, BOTTOM) - 1;
    SYNTH_FENCE(3);
    set(memory, BOTTOM, last);
    SYNTH_FENCE(4);
    const int first = index(memory, TOP);
    SYNTH_FENCE(5);
    if (first > last) {
        set(memory, BOTTOM, last + 1);
        SYNTH_FENCE(6);
        return NOTHING;
    }
    const unsigned item = get(memory, ITEMS + last % SIZE);
    SYNTH_FENCE(7);
    if (first < last) return item;
    const bool won = wins(memory, first);
    SYNTH_FENCE(8);
    set(memory, BOTTOM, last + 1);
    SYNTH_FENCE(9);
    return won ? item : NOTHING;
}

DEVICE unsigned steal(Memory memory) {
    const int first = index(memory, TOP);
    SYNTH_FENCE(10);
    const int last = index(memory, BOTTOM);
    SYNTH_FENCE(11);
    if (first >= last) return NOTHING;
    const unsigned item = get(memory, ITEMS + first % SIZE);
    SYNTH_FENCE(12);
    const bool won = wins(memory, first);
    SYNTH_FENCE(13);
    return won ? item : NOTHING;
}

DEVICE void play(Memory memory, unsigned me, unsigned seed) {
    unsigned had = 0;
    if (me == 0) {
        for (unsigned round = 0; round < ROUNDS; ++round) {
            for (unsigned item = 1; item <= BATCH; ++item) push(memory, round * BATCH + item);
            seed = drift(seed);
            for (unsigned item; (item = take(memory)) != NOTHING;) had += item;
        }
        set(memory, ENDED, 1);
    } else {
        while (!get(memory, ENDED)) {
            for (unsigned item; (item = steal(memory)) != NOTHING;) had += item;
            seed = drift(seed);
        }
    }
    set(memory, HAD + me, had);
}

DEVICE unsigned wrong(Memory memory) {
    const unsigned items = ROUNDS * BATCH;
    return get(memory, HAD) + get(memory, HAD + 1) - items * (items + 1) / 2;
}
