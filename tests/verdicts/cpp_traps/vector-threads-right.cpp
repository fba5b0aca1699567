/* C++20 vector: threads in a vector. */
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::atomic<int> d{0};
    std::vector<std::thread> v;
    for (int i = 0; i < 2; i++) v.emplace_back([&] {
        d++;
    });
    for (auto &t : v) t.join();
    assert(d == 2);
}
