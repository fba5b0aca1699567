/* C++20 optional: an optional under a lock. */
#include <cassert>
#include <thread>
#include <mutex>
#include <optional>

std::optional<int> o;
std::mutex m;

int main() {
    std::thread t([] {
        std::lock_guard<std::mutex> g(m);
        o = 3;
    });
    {
        std::lock_guard<std::mutex> g(m);
        if (o) assert(*o == 3);
    }
    t.join();
}
