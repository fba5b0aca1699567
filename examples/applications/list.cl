// A list under a spin lock: work-groups put nodes before its head, and in the end each node has to be on it.
//
// Who has taken the lock must not see an older head (place 0), and the head has to be visible before the lock is given
// back (place 3). On x86 none is needed: an exchange is a fence there, and stores stay in order.
#define GROUPS 4u
#define NODES 256u
#define CELLS (2 + GROUPS * NODES)
#define WRONG "nodes lost"
#include "application.h"

enum { LOCK, HEAD, NEXT = HEAD };  // nodes are numbered from 1, and 0 is the end

DEVICE void play(Memory memory, unsigned me, unsigned seed) {
    for (unsigned node = me * NODES + 1; node <= me * NODES + NODES; ++node) {
        for (unsigned looked = 1; exchange(at(memory, LOCK), 1); wait_again(looked++)) {
        }
        SYNTH_FENCE(0);
        const unsigned first = get(memory, HEAD);
        SYNTH_FENCE(1);
        set(memory, NEXT + node, first);
        SYNTH_FENCE(2);
        set(memory, HEAD, node);
        SYNTH_FENCE(3);
        set(memory, LOCK, 0);
        SYNTH_FENCE(4);
        seed = drift(seed);
    }
}

DEVICE unsigned wrong(Memory memory) {
    unsigned found = 0;
    for (unsigned node = get(memory, HEAD); node && found <= GROUPS * NODES; node = get(memory, NEXT + node)) ++found;
    return GROUPS * NODES - found;
}
