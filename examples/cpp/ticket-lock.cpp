// A ticket lock: threads take the lock in the order in which they ask for it, and sleep until their turn comes.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class TicketLock {
public:
    void lock()
    {
        const unsigned ticket = next_.fetch_add(1, std::memory_order_relaxed);
        for (unsigned now; (now = serving_.load(std::memory_order_acquire)) != ticket;)
            serving_.wait(now, std::memory_order_relaxed);
    }
    void unlock()
    {
        serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        serving_.notify_all();
    }

private:
    std::atomic<unsigned> next_{0}, serving_{0};
};

int main()
{
    TicketLock lock;
    int count = 0;
    auto work = [&] {
        std::scoped_lock guard{lock};
        ++count;
    };
    std::thread a{work}, b{work};
    a.join();
    b.join();
    assert(count == 2);
}
