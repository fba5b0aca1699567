/* C++20 func.wrap.func: an empty function is called. */
#include <functional>
#include <thread>
std::function<int()> f;
int main()
{
    std::thread b([] { f(); });
    b.join();
}
