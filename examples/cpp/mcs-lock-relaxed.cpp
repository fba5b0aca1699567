// The lock of Mellor-Crummey and Scott (TOCS 1991): each thread spins on a node of its own.
#include <atomic>
#include <cassert>
#include <thread>

class McsLock {
    struct Node {
        std::atomic<Node*> next{nullptr};
        std::atomic<bool> waits{true};
    };

public:
    class Guard {
    public:
        explicit Guard(McsLock& lock) : lock_{lock}
        {
            if (Node* before = lock_.tail_.exchange(&node_, std::memory_order_acq_rel)) {
                before->next.store(&node_, std::memory_order_release);
                while (node_.waits.load(std::memory_order_acquire)) {
                }
            }
        }
        ~Guard()
        {
            Node* next = node_.next.load(std::memory_order_acquire);
            if (!next) {
                Node* own = &node_;
                if (lock_.tail_.compare_exchange_strong(own, nullptr, std::memory_order_release,
                                                        std::memory_order_relaxed))
                    return;
                while (!(next = node_.next.load(std::memory_order_acquire))) {
                }
            }
            next->waits.store(false, std::memory_order_relaxed);
        }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        McsLock& lock_;
        Node node_;
    };

private:
    std::atomic<Node*> tail_{nullptr};
};

int main()
{
    McsLock lock;
    int count = 0;
    auto work = [&] {
        McsLock::Guard guard{lock};
        ++count;
    };
    std::thread a{work}, b{work};
    a.join();
    b.join();
    assert(count == 2);
}
