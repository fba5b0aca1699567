/* C++20 atomics.flag: a lock of a flag has to acquire and release. */
#include <atomic>
#include <thread>

std::atomic_flag f = ATOMIC_FLAG_INIT;
int d;
void g() {
    while (f.test_and_set(std::memory_order_relaxed)) {} d++;
    f.clear(std::memory_order_relaxed);
}

int main() {
    std::thread t(g);
    g();
    t.join();
}
