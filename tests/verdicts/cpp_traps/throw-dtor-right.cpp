/* C++20 except.ctor p1: what is between a throw and its handler is destroyed. */
#include <cassert>
#include <thread>

int n;
struct S {
    ~S() {
        n++;
    }
};

int main() {
    std::thread t([] {
        try {
            S a;
            S b;
            throw 1;
        } catch (...) {
            assert(n == 2);
        }
    });
    t.join();
}
