/* C++20 except.throw p3: an object is thrown, and caught by a copy; both are destroyed. */
#include <cassert>
#include <thread>

int n;
struct E {
    int a;
    E(int x) : a(x) {} E(const E &o) : a(o.a) {} ~E() {
        n++;
    }
};

int main() {
    std::thread t([] {
        try {
            throw E(5);
        } catch (E e) {
            assert(e.a == 5);
        }
        assert(n == 2);
    });
    t.join();
}
