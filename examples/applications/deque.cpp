// The work-stealing deque of Chase and Lev (2005), without growth: its owner pushes items and takes them back at one
// end, a thief steals them at the other, and each item has to be had once.
//
// The owner lowers `bottom` and then reads `top`, and the store has to be visible before that: place 4. Otherwise a
// thief who still sees the old `bottom` steals the item that the owner takes. On x86 no other fence is needed; weaker
// machines (Le et al. 2013) need one between an item and `bottom` where it is pushed, and one between the loads of `top`
// and `bottom` of the thief.
#include <vector>

#include "application.hpp"

static constexpr int size = 64, batch = 3, nothing = -1;
static Word top, bottom, items[size], ended;

static void push(int item) {
    const int last = bottom.get();
    SYNTH_FENCE(0);
    items[last % size].set(item);
    SYNTH_FENCE(1);
    bottom.set(last + 1);
    SYNTH_FENCE(2);
}

// Whether the item at `first` is the caller's: whoever moves `top` on has it.
static bool wins(int first) {
    return top.value.compare_exchange_strong(first, first + 1, std::memory_order_relaxed);
}

static int take() {
    const int last = bottom.get() - 1;
    SYNTH_FENCE(3);
    bottom.set(last);
    SYNTH_FENCE(4);
    const int first = top.get();
    SYNTH_FENCE(5);
    if (first > last) {
        bottom.set(last + 1);
        SYNTH_FENCE(6);
        return nothing;
    }
    const int item = items[last % size].get();
    SYNTH_FENCE(7);
    if (first < last) return item;
    const bool won = wins(first);
    bottom.set(last + 1);
    SYNTH_FENCE(8);
    return won ? item : nothing;
}

static int steal() {
    const int first = top.get();
    SYNTH_FENCE(9);
    const int last = bottom.get();
    SYNTH_FENCE(10);
    if (first >= last) return nothing;
    const int item = items[first % size].get();
    SYNTH_FENCE(11);
    return wins(first) ? item : nothing;
}

int main(int words, char** word) {
    const int rounds = rounds_of(words, word, 500000), every = rounds * batch;
    std::vector<unsigned char> taken(every), stolen(every);
    together(
        [&] {
            Drift drift{1};
            for (int round = 0; round < rounds; ++round) {
                for (int item = 0; item < batch; ++item) push(round * batch + item);
                drift();
                for (int item; (item = take()) != nothing;) ++taken[item];
            }
            ended.set(1);
        },
        [&] {
            Drift drift{2};
            while (!ended.get()) {
                for (int item; (item = steal()) != nothing;) ++stolen[item];
                drift();
            }
        });
    int wrong = 0;
    for (int item = 0; item < every; ++item) wrong += taken[item] + stolen[item] != 1;
    return judged("items not had once", wrong, 0);
}
