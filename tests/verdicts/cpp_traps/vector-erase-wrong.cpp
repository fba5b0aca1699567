/* C++20 intro.races: a vector is made smaller while its last element is asked for. */
#include <thread>
#include <vector>
std::vector<int> v(2);
int main()
{
    std::thread a([] { v.back() = 1; });
    std::thread b([] { v.pop_back(); });
    a.join(); b.join();
}
