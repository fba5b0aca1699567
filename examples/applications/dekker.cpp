// Dekker's lock (1962): two threads count, and no increment may be lost.
//
// A thread raises its flag and reads the other's, the first time (place 0) and again after it gave way (place 5): both
// stores have to be visible before the load. On x86 no other fence is needed; weaker machines need one behind the loop
// and one before `flag` falls, too.
#include "application.hpp"

static Word flag[2], turn, counter;

static int count(int me, int most) {
    const int other = 1 - me;
    Drift drift{static_cast<std::uint32_t>(me)};
    Rounds rounds{most};
    while (rounds.next()) {
        flag[me].set(1);
        SYNTH_FENCE(0);
        while (flag[other].get()) {
            SYNTH_FENCE(1);
            if (turn.get() == me) {
                SYNTH_FENCE(2);
                std::this_thread::yield();
                continue;
            }
            flag[me].set(0);
            SYNTH_FENCE(3);
            for (Patience patience; turn.get() != me; patience()) {
            }
            SYNTH_FENCE(4);
            flag[me].set(1);
            SYNTH_FENCE(5);
        }
        SYNTH_FENCE(6);
        const int counted = counter.get();
        SYNTH_FENCE(7);
        counter.set(counted + 1);
        SYNTH_FENCE(8);
        turn.set(other);
        SYNTH_FENCE(9);
        flag[me].set(0);
        SYNTH_FENCE(10);
        drift();
    }
    return rounds.made;
}

int main(int words, char** word) {
    return counted(words, word, count, counter);
}
