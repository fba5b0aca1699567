// A queue of one producer and one consumer in a ring.
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <thread>

template <class T, std::size_t Size>
class Ring {
public:
    bool push(const T& value)
    {
        const auto end = end_.load(std::memory_order_relaxed);
        if (end - begin_.load(std::memory_order_acquire) == Size)
            return false;
        places_[end % Size] = value;
        end_.store(end + 1, std::memory_order_release);
        return true;
    }
    bool pop(T& value)
    {
        const auto begin = begin_.load(std::memory_order_relaxed);
        if (begin == end_.load(std::memory_order_acquire))
            return false;
        value = places_[begin % Size];
        begin_.store(begin + 1, std::memory_order_relaxed);
        return true;
    }

private:
    std::array<T, Size> places_{};
    alignas(64) std::atomic<std::size_t> begin_{0};
    alignas(64) std::atomic<std::size_t> end_{0};
};

int main()
{
    Ring<int, 2> ring;
    std::jthread producer{[&] {
        for (int i = 1; i <= 3; ++i)
            while (!ring.push(i)) {
            }
    }};
    for (int i = 1; i <= 3; ++i) {
        int value;
        while (!ring.pop(value)) {
        }
        assert(value == i);
    }
}
