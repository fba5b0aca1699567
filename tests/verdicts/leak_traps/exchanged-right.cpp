/* Who puts an object in place of another one gives that back. */
#include <atomic>
#include <thread>

static std::atomic<int *> slot;

static void put(int value)
{
    delete slot.exchange(new int(value), std::memory_order_acq_rel);
}

int main()
{
    std::thread one(put, 1), other(put, 2);
    one.join();
    other.join();
    delete slot.exchange(nullptr);
}
