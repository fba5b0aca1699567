// A machine weaker than most, for the applications in C++ (-DWEAK): the word that threads share, and the fence.
//
// A store waits, and becomes visible to all at once, later stores to other words perhaps before it. A load finds any
// value that its word has had since the thread's last fence, but none older than one that the thread has seen there.
// What reads and writes at once does so at once, whatever else waits. A fence lets all that waits become visible. No
// dependency orders anything. Gap: no load sees a store that comes after it in its own thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

class Weak {
public:
    Weak() = default;
    void operator=(unsigned value);  // by the thread that starts and joins the others, so it sees all
    unsigned load(std::memory_order) const;
    void store(unsigned value, std::memory_order);
    unsigned fetch_add(unsigned value, std::memory_order) { return changed([=](unsigned old) { return old + value; }); }
    unsigned exchange(unsigned value, std::memory_order) { return changed([=](unsigned) { return value; }); }
    bool compare_exchange_strong(unsigned& old, unsigned value, std::memory_order) {
        const unsigned expected = old;
        old = changed([=](unsigned found) { return found == expected ? value : found; });
        return old == expected;
    }
    void show(unsigned value);

private:
    template <typename Change> unsigned changed(Change change);
    struct Value { unsigned long since; unsigned value; };
    std::vector<Value> values_{{0, 0}};  // the last few
};

namespace weak {

inline std::mutex machine;
inline unsigned long now = 0;

struct Thread {
    struct Store { Weak* cell; unsigned value; };
    std::vector<Store> waiting;
    std::unordered_map<const Weak*, unsigned long> seen;
    unsigned long fence = 0;
    bool sees_all = false;
    std::minstd_rand random{std::random_device{}()};

    unsigned below(std::size_t bound) { return static_cast<unsigned>(random() / 16 % bound); }
    void lets_go(std::size_t which) {  // the oldest to the word of that one
        Weak* const cell = waiting[which].cell;
        const auto is_to_it = [cell](const Store& each) { return each.cell == cell; };
        const auto first = std::find_if(waiting.begin(), waiting.end(), is_to_it);
        cell->show(first->value);
        seen[cell] = now;
        waiting.erase(first);
    }
    void lets_others(std::unique_lock<std::mutex>& lock) {
        if (below(4) != 0) return;
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
    }
    void steps(std::unique_lock<std::mutex>& lock) {
        lets_others(lock);
        if (!waiting.empty() && (waiting.size() > 4 || below(4) == 0)) lets_go(below(waiting.size()));
    }
    ~Thread() {
        const std::lock_guard<std::mutex> lock(machine);
        while (!waiting.empty()) lets_go(0);
    }
};
inline thread_local Thread me;

inline void fence() {
    std::unique_lock<std::mutex> lock(machine);
    while (!me.waiting.empty()) {
        me.lets_go(me.below(me.waiting.size()));
        me.lets_others(lock);
    }
    me.fence = now;
    me.seen.clear();
}

}  // namespace weak

inline void Weak::operator=(unsigned value) {
    weak::me.sees_all = true;
    values_ = {{0, value}};
}

inline void Weak::show(unsigned value) {
    if (values_.size() == 4) values_.erase(values_.begin());
    values_.push_back({++weak::now, value});
}

inline unsigned Weak::load(std::memory_order) const {
    std::unique_lock<std::mutex> lock(weak::machine);
    weak::me.steps(lock);
    const auto& waiting = weak::me.waiting;
    for (auto each = waiting.rbegin(); each != waiting.rend(); ++each)
        if (each->cell == this) return each->value;
    if (weak::me.sees_all) return values_.back().value;
    unsigned long& seen = weak::me.seen[this];
    const unsigned long since = std::max(weak::me.fence, seen);
    std::size_t oldest = values_.size() - 1;
    while (oldest > 0 && values_[oldest].since > since) --oldest;
    const std::size_t last = values_.size() - 1;
    const Value& found = values_[weak::me.below(2) ? last : oldest + weak::me.below(last - oldest + 1)];
    seen = std::max(seen, found.since);
    return found.value;
}

inline void Weak::store(unsigned value, std::memory_order) {
    std::unique_lock<std::mutex> lock(weak::machine);
    weak::me.steps(lock);
    weak::me.waiting.push_back({this, value});
}

template <typename Change> unsigned Weak::changed(Change change) {
    std::unique_lock<std::mutex> lock(weak::machine);
    weak::me.steps(lock);
    auto& waiting = weak::me.waiting;
    const auto mine = [this](const weak::Thread::Store& each) { return each.cell == this; };
    for (auto own = std::find_if(waiting.begin(), waiting.end(), mine); own != waiting.end();
         own = std::find_if(waiting.begin(), waiting.end(), mine))
        weak::me.lets_go(static_cast<std::size_t>(own - waiting.begin()));
    const unsigned old = values_.back().value, value = change(old);
    if (value != old) show(value);
    weak::me.seen[this] = weak::now;
    return old;
}
