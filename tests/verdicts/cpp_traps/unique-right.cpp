/* C++20 unique.ptr: a unique_ptr is moved to a thread. */
#include <cassert>
#include <thread>
#include <memory>

int main() {
    auto p = std::make_unique<int>(1);
    std::thread t([q = std::move(p)] {
        assert(*q == 1);
    });
    t.join();
    assert(!p);
}
