/* C++20 except.throw: memory decides whether an exception is thrown. */
#include <atomic>
#include <thread>

std::atomic<int> x;

int main() {
    std::thread t([] {
        x = 1;
    });
    try {
        if (x == 1) throw 1;
    } catch (long) { } t.join();
}
