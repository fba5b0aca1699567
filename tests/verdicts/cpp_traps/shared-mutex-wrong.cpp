/* C++20 thread.sharedmutex.class: what readers share a lock of is written by one of them. */
#include <cassert>
#include <shared_mutex>
#include <thread>
std::shared_mutex m; int x, y;
int main()
{
    std::thread w([] { std::shared_lock l(m); x++; y++; });
    std::thread r([] { std::shared_lock l(m); assert(x == y); });
    w.join(); r.join();
}
