/* C++20 thread.lock.scoped: two locks are taken at once by two threads, in opposite orders. */
#include <cassert>
#include <mutex>
#include <thread>
std::mutex a, b;
int x, y;
int main()
{
    std::thread first([] { std::scoped_lock both(a, b); x++; y++; });
    std::thread second([] { std::scoped_lock both(b, a); x++; y++; });
    first.join(); second.join();
    assert(x == 2 && y == 2);
}
