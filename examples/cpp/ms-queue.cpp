// The queue of Michael and Scott (PODC 1996), whose nodes live as long as the queue.
#include <atomic>
#include <cassert>
#include <thread>

template <class T>
class Queue {
    struct Node {
        T value{};
        std::atomic<Node*> next{nullptr};
    };

public:
    Queue() : head_{new Node}, tail_{head_.load(std::memory_order_relaxed)}, first_{head_.load(std::memory_order_relaxed)} {}
    ~Queue()
    {
        for (Node* node = first_; node != nullptr;) {
            Node* next = node->next.load(std::memory_order_relaxed);
            delete node;
            node = next;
        }
    }
    void push(const T& value)
    {
        Node* node = new Node;
        node->value = value;
        for (;;) {
            Node* tail = tail_.load(std::memory_order_acquire);
            Node* next = tail->next.load(std::memory_order_acquire);
            if (next != nullptr)
                tail_.compare_exchange_strong(tail, next, std::memory_order_release, std::memory_order_relaxed);
            else if (tail->next.compare_exchange_strong(next, node, std::memory_order_release, std::memory_order_relaxed)) {
                tail_.compare_exchange_strong(tail, node, std::memory_order_release, std::memory_order_relaxed);
                return;
            }
        }
    }
    bool pop(T& value)
    {
        for (;;) {
            Node* head = head_.load(std::memory_order_acquire);
            Node* next = head->next.load(std::memory_order_acquire);
            if (next == nullptr)
                return false;
            if (head_.compare_exchange_strong(head, next, std::memory_order_release, std::memory_order_relaxed)) {
                value = next->value;
                return true;
            }
        }
    }

private:
    std::atomic<Node*> head_, tail_;
    Node* const first_;
};

int main()
{
    Queue<int> queue;
    std::thread producer{[&] { queue.push(5); }};
    std::thread consumer{[&] {
        int value;
        if (queue.pop(value))
            assert(value == 5);
    }};
    producer.join();
    consumer.join();
}
