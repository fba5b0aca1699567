/* C++20 time.clock.steady: a later time is no less. */
#include <cassert>
#include <chrono>
#include <thread>
int main()
{
    auto t0 = std::chrono::steady_clock::now();
    std::thread t([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    t.join();
    auto t1 = std::chrono::steady_clock::now();
    assert(t1 >= t0);
}
