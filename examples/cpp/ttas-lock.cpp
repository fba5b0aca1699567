// A test-and-test-and-set lock: threads read until the lock is free before they try to take it.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

class TtasLock {
public:
    void lock()
    {
        while (taken_.exchange(true, std::memory_order_acquire))
            while (taken_.load(std::memory_order_relaxed))
                std::this_thread::yield();
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_{false};
};

int main()
{
    TtasLock lock;
    int count = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 2; ++i)
            threads.emplace_back([&] {
                std::lock_guard guard{lock};
                ++count;
            });
    }
    assert(count == 2);
}
