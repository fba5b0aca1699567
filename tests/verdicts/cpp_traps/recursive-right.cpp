/* C++20 thread.mutex.recursive: a recursive mutex may be taken again. */
#include <cassert>
#include <thread>
#include <mutex>

std::recursive_mutex m;
int d;
void f(int n) {
    std::lock_guard<std::recursive_mutex> g(m);
    d++;
    if (n) f(n-1);
}

int main() {
    std::thread t([] {
        f(1);
    });
    f(1);
    t.join();
    assert(d == 4);
}
