/* C++20 thread.once.callonce: one thread calls, others wait. */
#include <cassert>
#include <thread>
#include <mutex>

std::once_flag o;
int d;

int main() {
    auto f = [] {
        std::call_once(o, [] {
            d++;
        });
        assert(d == 1);
    };
    std::thread t(f);
    f();
    t.join();
}
