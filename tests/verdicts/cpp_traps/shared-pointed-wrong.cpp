/* C++20 intro.races: the count of a pointer is atomic, what it points to is not. */
#include <memory>
#include <thread>
int main()
{
    auto p = std::make_shared<int>(1);
    std::thread a([p] { ++*p; });
    std::thread b([p] { ++*p; });
    a.join(); b.join();
}
