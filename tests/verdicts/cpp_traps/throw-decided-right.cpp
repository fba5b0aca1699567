/* C++20 except.throw: memory decides whether an exception is thrown. */
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> x;

int main() {
    std::thread t([] {
        x = 1;
    });
    int r = 0;
    try {
        if (x == 1) throw 1;
    } catch (int i) {
        r = i;
    }
    assert(r <= 1);
    t.join();
}
