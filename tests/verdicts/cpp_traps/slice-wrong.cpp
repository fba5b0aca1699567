/* C++20 atomics.types.operations: a copy of an atomic object is changed, and written back over what others wrote. */
#include <atomic>
#include <cassert>
#include <thread>

struct P {
    int a, b;
};
std::atomic<P> p;

int main() {
    std::thread t([] {
        P q = p;
        q.a++;
        p = q;
    });
    P q = p;
    q.b++;
    p = q;
    t.join();
    P r = p;
    assert(r.a == 1 && r.b == 1);
}
