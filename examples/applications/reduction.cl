// A sum with a flag for the last (threadFenceReduction of CUDA's samples): each work-group sums its share and counts
// itself, and whoever is the last to do so sums the shares.
//
// A share has to be visible before it is counted (place 0), and is to be read after that (place 1, which the sample
// does without). On x86 none is needed, for to count is a fence there.
#define GROUPS 4u
#define SUMS 64u
#define ITEMS 64u
#define CELLS (SUMS * (GROUPS + 2))
#define WRONG "sums wrong"
#include "application.h"

enum { SHARE, COUNT = SUMS * GROUPS, TOTAL = COUNT + SUMS };

DEVICE void play(Memory memory, unsigned me, unsigned seed) {
    for (unsigned sum = 0; sum < SUMS; ++sum) {
        unsigned share = 0;
        for (unsigned item = me; item < ITEMS; item += GROUPS) share += item;
        set(memory, SHARE + sum * GROUPS + me, share);
        SYNTH_FENCE(0);
        const bool last = fetch_add(at(memory, COUNT + sum), 1) == GROUPS - 1;
        SYNTH_FENCE(1);
        if (last) {
            unsigned total = 0;
            for (unsigned group = 0; group < GROUPS; ++group) total += get(memory, SHARE + sum * GROUPS + group);
            SYNTH_FENCE(2);
            set(memory, TOTAL + sum, total);
            SYNTH_FENCE(3);
        }
        seed = drift(seed);
    }
}

DEVICE unsigned wrong(Memory memory) {
    unsigned found = 0;
    for (unsigned sum = 0; sum < SUMS; ++sum) found += get(memory, TOTAL + sum) != ITEMS * (ITEMS - 1) / 2;
    return found;
}
