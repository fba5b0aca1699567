// The stack of Treiber (IBM RJ 5118, 1986), whose nodes are not used again.
#include <atomic>
#include <cassert>
#include <optional>
#include <thread>
#include <utility>

template <class T>
class Stack {
    struct Node {
        T value;
        Node* next;
    };

public:
    Stack() = default;
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    void push(T value)
    {
        Node* node = new Node{std::move(value), top_.load(std::memory_order_relaxed)};
        while (!top_.compare_exchange_weak(node->next, node, std::memory_order_relaxed, std::memory_order_relaxed)) {
        }
    }
    std::optional<T> pop()
    {
        Node* node = top_.load(std::memory_order_acquire);
        while (node && !top_.compare_exchange_weak(node, node->next, std::memory_order_acquire,
                                                   std::memory_order_acquire)) {
        }
        if (!node)
            return std::nullopt;
        return node->value;
    }

private:
    std::atomic<Node*> top_{nullptr};
};

int main()
{
    Stack<int> stack;
    std::thread producer{[&] { stack.push(5); }};
    std::thread consumer{[&] {
        if (auto value = stack.pop())
            assert(*value == 5);
    }};
    producer.join();
    consumer.join();
}
