/* C++20 intro.races p9: the first look at a pointer that another thread sets has to acquire. */
#include <atomic>
#include <cassert>
#include <thread>
#include <mutex>

struct S {
    int a = 5;
};
std::mutex m;
std::atomic<S *> p;
S *get() {
    S *s = p.load(std::memory_order_acquire);
    if (!s) {
        std::lock_guard<std::mutex> g(m);
        s = p.load(std::memory_order_relaxed);
        if (!s) {
            s = new S;
            p.store(s, std::memory_order_release);
        }
    }
    return s;
}

int main() {
    std::thread t([] {
        assert(get()->a == 5);
    });
    assert(get()->a == 5);
    t.join();
}
