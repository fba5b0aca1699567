/* C++20 except.throw p8: what is caught is thrown again, and caught outside. */
#include <cassert>
#include <thread>

int n;
void f() {
    try {
        throw 3;
    } catch (...) {
        n++;
        throw;
    }
}

int main() {
    std::thread t([] {
        try {
            f();
        } catch (int x) {
            n += x;
        }
    });
    t.join();
    assert(n == 4);
}
