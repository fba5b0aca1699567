// A scan with decoupled look-back (Merrill and Garland 2016): the sum of all tiles up to each. Work-groups draw tiles,
// publish the sum of a tile, and look back, adding sums until they find a tile whose prefix is known.
//
// A sum (place 0) and a prefix (place 4) have to be visible before the state that says that they are there, and are to
// be read after that (place 2). On x86 none is needed: stores stay in order there, and so do loads.
#define GROUPS 4u
#define TILES 512u
#define CELLS (1 + 3 * TILES)
#define WRONG "prefixes wrong"
#include "application.h"

enum { NEXT, SUM, PREFIX = SUM + TILES, STATE = PREFIX + TILES, HAS_SUM = 1, HAS_PREFIX = 2 };

DEVICE void play(Memory memory, unsigned me, unsigned seed) {
    for (unsigned tile; (tile = fetch_add(at(memory, NEXT), 1)) < TILES;) {
        const unsigned sum = tile + 1;  // of its items
        set(memory, SUM + tile, sum);
        SYNTH_FENCE(0);
        set(memory, STATE + tile, HAS_SUM);
        SYNTH_FENCE(1);
        unsigned before = 0;
        for (unsigned back = tile, looked = 1, state = 0; back && state != HAS_PREFIX;) {
            state = get(memory, STATE + back - 1);
            SYNTH_FENCE(2);
            if (!state) {
                wait_again(looked++);
                continue;
            }
            before += get(memory, (state == HAS_PREFIX ? PREFIX : SUM) + --back);
            SYNTH_FENCE(3);
        }
        set(memory, PREFIX + tile, before + sum);
        SYNTH_FENCE(4);
        set(memory, STATE + tile, HAS_PREFIX);
        SYNTH_FENCE(5);
        seed = drift(seed + me);
    }
}

DEVICE unsigned wrong(Memory memory) {
    unsigned found = 0;
    for (unsigned tile = 0; tile < TILES; ++tile) found += get(memory, PREFIX + tile) != (tile + 1) * (tile + 2) / 2;
    return found;
}
