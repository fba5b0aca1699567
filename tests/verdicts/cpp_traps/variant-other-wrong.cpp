/* C++20 variant.get: the alternative that is asked for is not held. */
#include <mutex>
#include <variant>
#include <thread>
std::mutex m;
std::variant<int, double> v;
int main()
{
    int got = 0;
    std::thread a([] { std::lock_guard g(m); v = 2.5; });
    std::thread b([&got] { std::lock_guard g(m); got = std::get<int>(v); });
    a.join(); b.join();
    return got;
}
