/* C++20 except.ctor p1: an exception passes a lock that a guard gives back, and one that nobody does. */
#include <thread>
#include <mutex>

std::mutex m;
int d;
void f() {
    m.lock();
    d++;
    throw 1;
    m.unlock();
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
}
