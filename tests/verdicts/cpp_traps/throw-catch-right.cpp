/* C++20 except.handle: an exception is caught in the thread. */
#include <cassert>
#include <thread>

int d;

int main() {
    std::thread t([] {
        try {
            throw 1;
        } catch (int x) {
            d = x;
        }
    });
    t.join();
    assert(d == 1);
}
