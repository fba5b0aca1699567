/* C++20 vector: the elements of a vector are written under a lock. */
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
std::mutex m;
std::vector<int> v(2);
void add(int i) { std::lock_guard g(m); v[i]++; v.at(0) += 2; }
int main()
{
    std::thread a(add, 0), b(add, 1);
    a.join(); b.join();
    assert(v.size() == 2 && v[0] == 5 && v[1] == 1);
}
