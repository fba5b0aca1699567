/* C++20 array: elements of an array are places of their own. */
#include <atomic>
#include <cassert>
#include <thread>
#include <array>

int main() {
    std::array<std::atomic<int>, 2> a{};
    std::thread t([&] {
        a[0]++;
    });
    a[1]++;
    t.join();
    assert(a[0] == 1 && a[1] == 1);
}
