// Shared memory, mbarriers and asynchronous operations, as far as the generated programs need them.
// An operation is done a while after it was asked for, by a thread of its own, one after the other. Whoever does
// something to an mbarrier that is none, initialises one again, makes more arrivals than are pending, comes to a barrier
// where others wait for another number of threads, or ends a kernel while an operation goes on, is told so: the program
// ends with exit code 2.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#ifndef CLUSTER
#define CLUSTER 1
#endif

namespace emulated {
[[noreturn]] inline void wrong(const char* const what, const std::string& text) {
    std::fprintf(stderr, "%s: %s\n", text.c_str(), what);
    std::_Exit(2);
}

inline std::uint32_t* word(const std::uint64_t address) { return (std::uint32_t*)(arena + address); }
inline std::uint32_t* mine() { return word(std::uint64_t{blockIdx.x} * SHARED_BYTES); }

// What is done in order: mbarriers, operations, barriers.
// Never destroyed: the thread of the operations outlives the program.
inline std::mutex& everything = *new std::mutex;
inline std::condition_variable& changed = *new std::condition_variable;

struct Mbarrier { std::int64_t expected, pending, tx; std::uint64_t phase; };
inline std::map<std::uint64_t, Mbarrier> mbarriers;

inline void change(const std::string& text, const std::uint64_t at, const int arrivals, const std::int64_t bytes, const int drop) {
    const auto found = mbarriers.find(at);
    if (found == mbarriers.end()) wrong("this is no mbarrier", text);
    Mbarrier& state = found->second;
    state.tx += bytes, state.expected -= drop, state.pending -= arrivals;
    if (state.pending < 0) wrong("more arrivals than are pending", text);
    if (state.pending == 0 && state.tx == 0) state.pending = state.expected, ++state.phase;
}

struct Operation { std::function<void()> work; bool done = false; };
using Operations = std::vector<std::shared_ptr<Operation>>;
inline std::deque<std::shared_ptr<Operation>>& asked = *new std::deque<std::shared_ptr<Operation>>;
inline thread_local std::map<std::string, Operations> begun;               // since the last group, by kind
inline thread_local std::map<std::string, std::deque<Operations>> groups;  // by kind

inline void work() {
    for (;;) {
        std::unique_lock<std::mutex> lock(everything);
        changed.wait(lock, [] { return !asked.empty(); });
        lock.unlock();
        usleep(50);
        lock.lock();
        asked.front()->work();
        asked.front()->done = true;
        asked.pop_front();
        changed.notify_all();
    }
}

inline std::shared_ptr<Operation> ask(const std::function<void()>& work_of_it) {
    static const bool working = [] { std::thread(work).detach(); return true; }();
    (void)working;
    asked.push_back(std::make_shared<Operation>(Operation{work_of_it}));
    changed.notify_all();
    return asked.back();
}

inline void ended() {
    const std::lock_guard<std::mutex> lock(everything);
    if (!asked.empty()) wrong("a kernel ended before its operations", "launch");
    if (!mbarriers.empty()) wrong("an mbarrier was left behind", "launch");
}

inline bool done(const Operations& operations) {
    for (const auto& each : operations)
        if (!each->done) return false;
    return true;
}

inline std::uint32_t updated(const std::string& operation, const std::uint32_t old, const std::uint32_t value) {
    if (operation == "add") return old + value;
    if (operation == "and") return old & value;
    if (operation == "or") return old | value;
    if (operation == "xor") return old ^ value;
    if (operation == "min") return std::int32_t(old) < std::int32_t(value) ? old : value;
    if (operation == "max") return std::int32_t(old) > std::int32_t(value) ? old : value;
    return value;
}

// A barrier of so many threads: a generation ends when they have come.
struct Meeting { std::uint64_t came = 0, count = 0, generation = 0; };
inline std::map<std::uint64_t, Meeting> meetings;

inline void meet(std::unique_lock<std::mutex>& lock, const std::uint64_t key, const std::uint64_t count, const bool waits,
                 const std::string& text) {
    Meeting& meeting = meetings[key];
    const std::uint64_t generation = meeting.generation;
    if (meeting.came && meeting.count != count) wrong("threads wait at this barrier for another number of threads", text);
    meeting.count = count;
    if (++meeting.came == count) meeting.came = 0, ++meeting.generation, changed.notify_all();
    else if (waits) changed.wait(lock, [&] { return meeting.generation != generation; });
}

inline bool starts(const std::string& text, const char* const with) { return text.rfind(with, 0) == 0; }
inline bool has(const std::string& text, const char* const part) { return text.find(part) != std::string::npos; }

// One instruction; its operands are registers, numbered after the results.
inline std::uint64_t instruction(const std::string& text, const unsigned results, const std::vector<std::uint64_t>& given) {
    std::vector<std::string> names;
    const std::size_t space = text.find(' ');
    const std::string opcode = text.substr(0, space);
    for (std::size_t at = space; at < text.size();) {
        const std::size_t end = std::min(text.find(',', at + 1), text.size());
        const std::size_t begin = text.find_first_not_of(" ,[", at);
        names.push_back(text.substr(begin, text.find_last_not_of(" ]", end - 1) - begin + 1));
        at = end;
    }
    const auto value = [&](const std::size_t place) -> std::uint64_t {
        const std::string& name = names.at(place);
        if (name[0] != '%') return std::stoull(name);
        return given.at(std::stoul(name.substr(1)) - results);
    };
    std::unique_lock<std::mutex> lock(everything);
    if (starts(opcode, "mapa")) {
        const std::uint64_t first = blockIdx.x / CLUSTER * CLUSTER;
        return (first + value(2)) * SHARED_BYTES + value(1) % SHARED_BYTES;
    }
    if (starts(opcode, "barrier.cluster.arrive")) return 0;
    if (starts(opcode, "barrier.cluster.wait")) {
        meet(lock, 1u << 20 | blockIdx.x / CLUSTER, std::uint64_t{CLUSTER} * blockDim.x, true, text);
        return 0;
    }
    if (starts(opcode, "barrier.")) {
        meet(lock, blockIdx.x << 4 | value(0), value(1), opcode == "barrier.sync", text);
        return 0;
    }
    if (starts(opcode, "mbarrier.init")) {
        if (mbarriers.count(value(0))) wrong("this is an mbarrier already", text);
        mbarriers[value(0)] = {std::int64_t(value(1)), std::int64_t(value(1)), 0, 0};
        return 0;
    }
    if (starts(opcode, "mbarrier.inval")) {
        if (!mbarriers.erase(value(0))) wrong("this is no mbarrier", text);
        return 0;
    }
    if (starts(opcode, "mbarrier.pending_count")) return value(1) & 0xfffff;
    if (starts(opcode, "mbarrier.test_wait")) {
        lock.unlock(), sched_yield(), lock.lock();
        const auto found = mbarriers.find(value(1));
        if (found == mbarriers.end()) return 0; // a test may ask before it is initialised
        if (has(opcode, "parity")) return found->second.phase % 2 != value(2);
        return found->second.phase != value(2) >> 20;
    }
    if (starts(opcode, "mbarrier.arrive")) {
        const bool expects = has(opcode, "expect_tx");
        const std::uint64_t at = value(1), count = names.size() > 2 ? value(2) : 1;
        if (!mbarriers.count(at)) wrong("this is no mbarrier", text);
        const Mbarrier before = mbarriers[at];
        if (expects) mbarriers[at].tx += count;
        change(text, at, expects ? 1 : count, 0, has(opcode, "drop") ? (expects ? 1 : count) : 0);
        return before.phase << 20 | before.pending;
    }
    if (starts(opcode, "mbarrier.expect_tx")) return change(text, value(0), 0, value(1), 0), 0;
    if (starts(opcode, "mbarrier.complete_tx")) return change(text, value(0), 0, -std::int64_t(value(1)), 0), 0;
    const std::string kind = starts(opcode, "cp.async") && !has(opcode, "bulk") ? "cp.async" : "cp.async.bulk";
    if (starts(opcode, "cp.async.mbarrier.arrive")) {
        const std::uint64_t at = value(0);
        if (!has(opcode, "noinc")) change(text, at, -1, 0, 0);
        ask([=] { change(text, at, 1, 0, 0); }); // operations are done in order
        return 0;
    }
    if (has(opcode, "commit_group") || has(opcode, "wait_all")) {
        groups[kind].push_back(begun[kind]), begun[kind].clear();
        if (has(opcode, "commit_group")) return 0;
    }
    if (has(opcode, "wait_")) {
        const std::size_t left = has(opcode, "wait_all") ? 0 : value(0);
        while (groups[kind].size() > left) {
            changed.wait(lock, [&] { return done(groups[kind].front()); });
            groups[kind].pop_front();
        }
        return 0;
    }
    // what copies, stores or reduces
    const bool stores = starts(opcode, "st.async") || starts(opcode, "red.async");
    const bool from_global = !stores && (has(opcode, ".shared::cluster.global") || kind == "cp.async");
    const bool to_global = has(opcode, ".global.shared::cta");
    const bool completes = has(opcode, "complete_tx");
    std::string operation = opcode.substr(0, opcode.rfind('.'));
    operation = starts(opcode, "red") || has(opcode, "reduce") ? operation.substr(operation.rfind('.') + 1) : "";
    std::uint32_t* const target = to_global ? (std::uint32_t*)value(0) : word(value(0));
    const std::uint32_t* const source = stores ? nullptr : from_global ? (std::uint32_t*)value(1) : word(value(1));
    const std::uint64_t size = stores ? 4 : value(2), number = stores ? value(1) : 0;
    const std::uint64_t at = completes ? value(stores ? 2 : 3) : 0;
    if ((std::uint64_t)target % size % 16 || (std::uint64_t)source % size % 16) wrong("addresses are not aligned", text);
    const auto asked_for = ask([=] {
        for (std::uint64_t each = 0; each < size / 4; ++each)
            target[each] = updated(operation, target[each], stores ? number : source[each]);
        if (completes) change(text, at, 0, -std::int64_t(size), 0);
    });
    if (!completes) begun[kind].push_back(asked_for);
    return 0;
}

inline std::uint64_t asynchronous(const char* const text, const unsigned results, const std::vector<std::uint64_t> given) {
    std::uint64_t result = 0;
    const std::string all = text;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find(';', at), all.size());
        const std::size_t begin = all.find_first_not_of(" {}", at);
        if (begin >= end) break;
        const std::string one = all.substr(begin, end - begin);
        if (one[0] != '.' && !starts(one, "selp")) result = instruction(one, results, given);
        at = end + 1;
    }
    return result;
}
} // namespace emulated
