/* C++20 intro.races: a vector is swapped with another one while its elements are written. */
#include <thread>
#include <utility>
#include <vector>
std::vector<int> v(2), w(1);
int main()
{
    std::thread a([] { v[1] = 1; });
    std::thread b([] { std::swap(v, w); });
    a.join(); b.join();
}
