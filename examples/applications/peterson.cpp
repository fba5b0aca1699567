// Peterson's lock (1981): two threads count, and no increment may be lost.
//
// Each store to `turn` has to be visible before the other's flag is read: place 1. Place 0 instead is not enough: then
// `turn` is still in the store buffer, and overwrites the other's. On x86, and on any machine that lets stores wait, no
// other fence helps, and no other is needed; weaker machines need one behind the loop and one before `flag` falls, too.
#include "application.hpp"

static Word flag[2], turn, counter;

static int count(int me, int most) {
    const int other = 1 - me;
    Drift drift{static_cast<std::uint32_t>(me)};
    Rounds rounds{most};
    while (rounds.next()) {
        flag[me].set(1);
        SYNTH_FENCE(0);
        turn.set(other);
        SYNTH_FENCE(1);
        for (Patience patience;; patience()) {
            const int wanted = flag[other].get();
            SYNTH_FENCE(2);
            if (!wanted) break;
            const int whose = turn.get();
            SYNTH_FENCE(3);
            if (whose != other) break;
        }
        SYNTH_FENCE(4);
        const int counted = counter.get();
        SYNTH_FENCE(5);
        counter.set(counted + 1);
        SYNTH_FENCE(6);
        flag[me].set(0);
        SYNTH_FENCE(7);
        drift();
    }
    return rounds.made;
}

int main(int words, char** word) {
    return counted(words, word, count, counter);
}
