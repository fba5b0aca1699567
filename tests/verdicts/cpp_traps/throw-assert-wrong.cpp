/* C++20 except.handle: the value of what is caught. */
#include <cassert>
#include <thread>

int main() {
    std::thread t([] {
        try {
            throw 1;
        } catch (int x) {
            assert(x == 2);
        }
    });
    t.join();
}
