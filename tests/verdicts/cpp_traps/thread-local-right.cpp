/* C++20 basic.stc.thread p1: each thread has its own, which ends with the thread. */
#include <cassert>
#include <thread>

struct S {
    int a;
    S() : a(7) {}
};
thread_local S s;

int main() {
    std::thread t([] {
        s.a++;
        assert(s.a == 8);
    });
    s.a++;
    assert(s.a == 8);
    t.join();
}
