/* C++20 variant: a variant that is changed before the thread ends. */
#include <cassert>
#include <thread>
#include <variant>

int main() {
    std::variant<int, long> v;
    std::thread t([&] {
        v = 3L;
    });
    t.join();
    assert(std::get<long>(v) == 3);
}
