/* C++20 func.wrap: a thread runs a std::function. */
#include <cassert>
#include <thread>
#include <functional>

int main() {
    int d = 0;
    std::function<void()> f = [&] {
        d++;
    };
    std::thread t(f);
    t.join();
    assert(d == 1);
}
