// The queue of Michael and Scott (PODC 1996), whose nodes are not used again.
#include <atomic>
#include <cassert>
#include <optional>
#include <thread>

template <class T>
class Queue {
    struct Node {
        T value{};
        std::atomic<Node*> next{nullptr};
    };

public:
    Queue() : head_{new Node}, tail_{head_.load(std::memory_order_relaxed)} {}

    void enqueue(T value)
    {
        Node* node = new Node{value};
        for (;;) {
            Node* tail = tail_.load(std::memory_order_acquire);
            Node* next = tail->next.load(std::memory_order_acquire);
            if (next) {
                tail_.compare_exchange_strong(tail, next, std::memory_order_release, std::memory_order_relaxed);
            } else if (tail->next.compare_exchange_strong(next, node, std::memory_order_release,
                                                          std::memory_order_relaxed)) {
                tail_.compare_exchange_strong(tail, node, std::memory_order_release, std::memory_order_relaxed);
                return;
            }
        }
    }
    std::optional<T> dequeue()
    {
        for (;;) {
            Node* head = head_.load(std::memory_order_acquire);
            Node* next = head->next.load(std::memory_order_relaxed);
            if (!next)
                return std::nullopt;
            if (head_.compare_exchange_strong(head, next, std::memory_order_release, std::memory_order_relaxed))
                return next->value;
        }
    }

private:
    std::atomic<Node*> head_, tail_;
};

int main()
{
    Queue<int> queue;
    std::jthread producer{[&] { queue.enqueue(5); }};
    if (auto value = queue.dequeue())
        assert(*value == 5);
}
