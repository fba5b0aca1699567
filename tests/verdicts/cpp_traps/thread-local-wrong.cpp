/* C++20 basic.stc.thread p1: each thread has its own, which ends with the thread. */
#include <thread>

struct S {
    int a;
    S() : a(7) {}
};
thread_local S s;

int main() {
    S *p = nullptr;
    std::thread t([&] {
        p = &s;
    });
    t.join();
    p->a = 1;
}
