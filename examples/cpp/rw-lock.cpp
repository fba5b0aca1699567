// A reader-writer lock in one word: how many read, or -1 while one writes.
#include <atomic>
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

class RwLock {
public:
    void lock()
    {
        int nobody = 0;
        while (!word_.compare_exchange_weak(nobody, -1, std::memory_order_acquire, std::memory_order_relaxed))
            nobody = 0;
    }
    void unlock() { word_.store(0, std::memory_order_release); }
    void lock_shared()
    {
        int readers = word_.load(std::memory_order_relaxed);
        while (readers < 0 || !word_.compare_exchange_weak(readers, readers + 1, std::memory_order_acquire,
                                                           std::memory_order_relaxed))
            readers = word_.load(std::memory_order_relaxed);
    }
    void unlock_shared() { word_.fetch_sub(1, std::memory_order_release); }

private:
    std::atomic<int> word_{0};
};

struct Pair {
    int first = 0, second = 0;
};

int main()
{
    RwLock lock;
    Pair pair;
    std::thread writer{[&] {
        std::unique_lock guard{lock};
        pair = {1, 1};
    }};
    std::thread reader{[&] {
        std::shared_lock guard{lock};
        assert(pair.first == pair.second);
    }};
    writer.join();
    reader.join();
}
