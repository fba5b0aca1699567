/* C++20 vector: a vector is made smaller under a lock, and its last element is written under it. */
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
std::mutex m;
std::vector<int> v(2);
int main()
{
    std::thread a([] { std::lock_guard g(m); if (v.size() == 2) v.back() = 5; });
    std::thread b([] { std::lock_guard g(m); v.pop_back(); });
    a.join(); b.join();
    assert(v.size() == 1 && v.front() == 0);
}
