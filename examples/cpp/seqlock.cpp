// A sequence lock (Boehm, MSPC 2012): readers read again where the writer was there meanwhile.
#include <atomic>
#include <cassert>
#include <thread>

struct Pair {
    int first, second;
};

class Seqlock {
public:
    void store(Pair pair)
    {
        const unsigned before = sequence_.load(std::memory_order_relaxed);
        sequence_.store(before + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        first_.store(pair.first, std::memory_order_relaxed);
        second_.store(pair.second, std::memory_order_relaxed);
        sequence_.store(before + 2, std::memory_order_release);
    }
    [[nodiscard]] Pair load() const
    {
        for (;;) {
            const unsigned before = sequence_.load(std::memory_order_acquire);
            const Pair pair{first_.load(std::memory_order_relaxed), second_.load(std::memory_order_relaxed)};
            std::atomic_thread_fence(std::memory_order_acquire);
            if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before)
                return pair;
        }
    }

private:
    std::atomic<unsigned> sequence_{0};
    std::atomic<int> first_{0}, second_{0};
};

int main()
{
    Seqlock shared;
    std::jthread writer{[&] { shared.store({7, 7}); }};
    const auto [first, second] = shared.load();
    assert(first == second);
}
