/* C++20 atomics.order p2: consume is acquire here, as in every compiler. */
#include <atomic>
#include <cassert>
#include <thread>

struct S {
    int a;
};
std::atomic<S *> p;

int main() {
    std::thread t([] {
        p.store(new S{1}, std::memory_order_release);
    });
    if (S *s = p.load(std::memory_order_consume)) assert(s->a == 1);
    t.join();
}
