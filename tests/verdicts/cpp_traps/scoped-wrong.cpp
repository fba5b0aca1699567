/* C++20 thread.lock.scoped: two threads hold different locks. */
#include <mutex>
#include <thread>
std::mutex a, b, c;
int x;
int main()
{
    std::thread first([] { std::scoped_lock both(a, b); x++; });
    std::thread second([] { std::scoped_lock one(c); x++; });
    first.join(); second.join();
}
