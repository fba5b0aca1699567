/* C++20 intro.races p21: a volatile object orders nothing between threads. */
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<bool> ready;
int d;

int main() {
    std::thread t([] {
        d = 1;
        ready = true;
    });
    while (!ready) {} int x = d;
    assert(x == 1);
    t.join();
}
