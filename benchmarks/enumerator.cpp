// Counts the progress tests of a bound by brute force: the anchor of benchmarks/progress.py.
//
//     enumerator THREADS INSTRUCTIONS [LOCATIONS VALUES]     prints how many there are
//
// Every AXB program is made, one instruction after the other: all lengths of threads in all orders, all locations in the
// order of their first occurrence, all values and all jumps. So each program that `synth progress --all` counts is made
// once. A program is kept where it is a progress test (Sorensen et al. 2021, sections 5.1 and 5.2; (a) to (e) of
// oracle/progress/wellformed.py, of which this knows nothing): (a) holds for what is made, the parts of (b) and (c)
// that the text decides are looked at first, and the rest on the transition system, explored from the start.
//
// It is what one would write first, without symmetry of threads or pruning of programs that are half made, on one core.
// It only counts: no verdicts of models, no digests, no minimality, no files.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int NO_EXCHANGE = -1;

struct Instruction {
    int location, check, exchange, jump;
};

struct Site {
    int thread, pc;
};

class Enumerator {
  public:
    Enumerator(std::vector<int> lengths, int locations, int values)
        : lengths_(std::move(lengths)), locations_(locations), values_(values), ends_(0) {
        for (int t = 0; t < threads(); ++t)
            for (int pc = 0; pc < lengths_[t]; ++pc) sites_.push_back({t, pc});
        // A state is a number: digits of the counters, then of the memory.
        int states = 1;
        for (int length : lengths_) {
            first_.push_back(first_.empty() ? 0 : first_.back() + lengths_[first_.size() - 1]);
            place_.push_back(states);
            ends_ += states * length;
            states *= length + 1;
        }
        counters_ = states;
        for (int l = 0; l < locations_; ++l) {
            cell_.push_back(states);
            states *= values_;
        }
        code_.resize(sites_.size());
        number_.assign(states, -1);
    }

    long count() {
        count_ = 0;
        choose(0, 0);
        return count_;
    }

  private:
    int threads() const { return static_cast<int>(lengths_.size()); }

    // All programs whose instructions before `site` are chosen, and use `used` locations.
    void choose(size_t site, int used) {
        if (site == sites_.size()) {
            count_ += influences() && behaves();
            return;
        }
        auto [thread, pc] = sites_[site];
        for (int location = 0; location < std::min(used + 1, locations_); ++location) {
            int now = std::max(used, location + 1);
            for (int jump = 0; jump <= lengths_[thread]; ++jump) {
                bool store = jump == pc + 1;
                for (int check = 0; check < (store ? 1 : values_); ++check)
                    for (int exchange = store ? 0 : NO_EXCHANGE; exchange < values_; ++exchange) {
                        code_[site] = {location, check, exchange, jump};
                        choose(site + 1, now);
                    }
            }
        }
    }

    // (b), (c) in the text: another thread branches on what is exchanged, and another uses what is branched on.
    bool influences() const {
        std::vector<int>& touched = touched_;
        std::vector<int>& tested = tested_;
        touched.assign(locations_, 0);
        tested.assign(locations_, 0);
        for (size_t n = 0; n < sites_.size(); ++n) {
            touched[code_[n].location] |= 1 << sites_[n].thread;
            if (branches(n)) tested[code_[n].location] |= 1 << sites_[n].thread;
        }
        for (size_t n = 0; n < sites_.size(); ++n) {
            int others = ~(1 << sites_[n].thread);
            if (code_[n].exchange != NO_EXCHANGE && !(tested[code_[n].location] & others)) return false;
            if (branches(n) && !(touched[code_[n].location] & others)) return false;
        }
        return true;
    }

    bool branches(size_t n) const { return code_[n].jump != sites_[n].pc + 1; }

    // (b), (c) in what is reached, (d) that all can end, (e) that there is a cycle.
    bool behaves() {
        reached_.assign(1, 0);
        after_.clear();
        holds_.assign(sites_.size(), false);
        fails_.assign(sites_.size(), false);
        changes_.assign(sites_.size(), false);
        number_[0] = 0;
        for (size_t at = 0; at < reached_.size(); ++at)
            for (int t = 0; t < threads(); ++t) after_.push_back(step(reached_[at], t));
        for (int state : reached_) number_[state] = -1;
        for (size_t n = 0; n < sites_.size(); ++n) {
            if (code_[n].exchange != NO_EXCHANGE && !changes_[n]) return false;
            if (branches(n) && !(holds_[n] && fails_[n])) return false;
        }
        return all_can_end() && some_cycle();
    }

    // The number of the state after a step, which is new to `reached_` or not; -1 where the thread has ended.
    int step(int state, int t) {
        int pc = state / place_[t] % (lengths_[t] + 1);
        if (pc == lengths_[t]) return -1;
        int n = first_[t] + pc;
        const Instruction& ins = code_[n];
        int value = state / cell_[ins.location] % values_;
        bool equal = value == ins.check;
        int written = ins.exchange == NO_EXCHANGE ? value : ins.exchange;
        (equal ? holds_ : fails_)[n] = true;
        if (written != value) changes_[n] = true;
        int after = state + ((equal ? ins.jump : pc + 1) - pc) * place_[t] + (written - value) * cell_[ins.location];
        if (number_[after] < 0) {
            number_[after] = static_cast<int>(reached_.size());
            reached_.push_back(after);
        }
        return number_[after];
    }

    bool all_can_end() {
        std::vector<char>& can = flags_;
        can.assign(reached_.size(), false);
        for (size_t at = 0; at < reached_.size(); ++at) can[at] = reached_[at] % counters_ == ends_;
        for (bool growing = true; growing;) {
            growing = false;
            for (size_t at = reached_.size(); at-- > 0;)
                for (int t = 0; t < threads() && !can[at]; ++t)
                    if (int next = after_[at * threads() + t]; next >= 0 && can[next]) can[at] = growing = true;
        }
        return std::find(can.begin(), can.end(), false) == can.end();
    }

    // States without a step into them are taken away until there are none; a cycle is left over.
    bool some_cycle() {
        std::vector<int>& entries = entries_;
        std::vector<int>& free = free_;
        entries.assign(reached_.size(), 0);
        for (int next : after_)
            if (next >= 0) ++entries[next];
        free.clear();
        for (size_t at = 0; at < reached_.size(); ++at)
            if (!entries[at]) free.push_back(static_cast<int>(at));
        for (size_t i = 0; i < free.size(); ++i)
            for (int t = 0; t < threads(); ++t)
                if (int next = after_[free[i] * threads() + t]; next >= 0 && !--entries[next]) free.push_back(next);
        return free.size() < reached_.size();
    }

    std::vector<int> lengths_;
    int locations_, values_, ends_, counters_;
    std::vector<int> first_, place_, cell_;  // of a thread its first site and its digit, of a location its digit
    std::vector<Site> sites_;
    std::vector<Instruction> code_;
    long count_ = 0;
    // What is known of the program at hand; kept from one to the next for the memory alone.
    std::vector<int> number_, reached_, after_, entries_, free_;
    std::vector<char> holds_, fails_, changes_, flags_;
    mutable std::vector<int> touched_, tested_;
};

// The lengths of so many threads with so many instructions in all, in every order.
long count_all(std::vector<int>& lengths, int threads, int instructions, int locations, int values) {
    if (threads == 0) return instructions == 0 ? Enumerator(lengths, locations, values).count() : 0;
    long count = 0;
    for (int length = 1; length <= instructions - (threads - 1); ++length) {
        lengths.push_back(length);
        count += count_all(lengths, threads - 1, instructions - length, locations, values);
        lengths.pop_back();
    }
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 5) {
        std::fprintf(stderr, "usage: %s THREADS INSTRUCTIONS [LOCATIONS VALUES]\n", argv[0]);
        return 2;
    }
    int instructions = std::atoi(argv[2]);
    int locations = std::min(argc == 5 ? std::atoi(argv[3]) : 2, instructions);
    std::vector<int> lengths;
    std::printf("%ld\n", count_all(lengths, std::atoi(argv[1]), instructions, locations, argc == 5 ? std::atoi(argv[4]) : 2));
}
