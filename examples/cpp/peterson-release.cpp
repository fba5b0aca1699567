// The lock of Peterson (IPL 1981) for two threads: each wishes to enter, and lets the other one go first.
#include <atomic>
#include <cassert>
#include <thread>

class Peterson {
public:
    void lock(int own)
    {
        wishes_[own].store(true, std::memory_order_release);
        turn_.store(1 - own, std::memory_order_release);
        while (wishes_[1 - own].load() && turn_.load() == 1 - own) {
        }
    }
    void unlock(int own) { wishes_[own].store(false); }

private:
    std::atomic<bool> wishes_[2]{};
    std::atomic<int> turn_{0};
};

int main()
{
    Peterson lock;
    int count = 0;
    auto work = [&](int own) {
        lock.lock(own);
        ++count;
        lock.unlock(own);
    };
    std::thread a{work, 0}, b{work, 1};
    a.join();
    b.join();
    assert(count == 2);
}
