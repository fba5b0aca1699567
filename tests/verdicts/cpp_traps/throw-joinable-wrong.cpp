/* C++20 thread.thread.destr: a joinable thread is destroyed by an exception. */
#include <thread>

void f() {
    std::thread t([]{ });
    throw 1;
    t.join();
}

int main() {
    try {
        f();
    } catch (int) {}
}
