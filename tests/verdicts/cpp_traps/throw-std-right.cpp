/* C++20 std.exceptions: std::runtime_error is caught as std::exception, and has its text. */
#include <cassert>
#include <thread>
#include <stdexcept>

int n;

int main() {
    std::thread t([] {
        try {
            throw std::runtime_error("x");
        } catch (const std::exception &e) {
            n = e.what()[0];
        }
    });
    t.join();
    assert(n == 120);
}
