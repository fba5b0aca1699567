/* C++20 sequence.reqmts: a place that a vector has not. */
#include <thread>
#include <vector>

int main() {
    std::vector<int> v{1};
    std::thread t([&] {
        v.at(3) = 1;
    });
    t.join();
}
