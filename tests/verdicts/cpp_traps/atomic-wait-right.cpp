/* C++20 atomics.wait p4: who waits for a value is woken, and looks again: a value that is back is not seen. */
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> x;

int main() {
    std::thread t([] {
        x.wait(0);
        assert(x == 1);
    });
    x = 1;
    x.notify_one();
    t.join();
}
