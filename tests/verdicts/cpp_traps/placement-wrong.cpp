/* C++20 intro.races p9: an object in given memory is made before its address is shown. */
#include <atomic>
#include <cassert>
#include <thread>
#include <new>

struct S {
    int a;
    S() : a(1) {}
};
alignas(S) char room[sizeof(S)];
std::atomic<S *> p;

int main() {
    std::thread t([] {
        p.store(new (room) S, std::memory_order_relaxed);
    });
    if (S *s = p.load(std::memory_order_relaxed)) assert(s->a == 1);
    t.join();
}
