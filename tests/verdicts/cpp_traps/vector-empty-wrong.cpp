/* C++20 vector: which element is the last one depends on who has the lock first. */
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
std::mutex m;
std::vector<int> v(2);
int main()
{
    std::thread a([] { std::lock_guard g(m); v.back() = 5; });
    std::thread b([] { std::lock_guard g(m); v.pop_back(); });
    a.join(); b.join();
    assert(v.size() == 1 && v.front() == 0);
}
