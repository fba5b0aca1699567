/* C++20 except.ctor p1: an exception passes a lock that a guard gives back, and one that nobody does. */
#include <cassert>
#include <thread>
#include <mutex>

std::mutex m;
int d;
void f() {
    std::lock_guard<std::mutex> g(m);
    d++;
    throw 1;
}

int main() {
    std::thread t([] {
        try {
            f();
        } catch (...) {}
    });
    try {
        f();
    } catch (...) {}
    t.join();
    assert(d == 2);
}
