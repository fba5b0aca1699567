/* C++20 thread.timedmutex.class: a count is added to by who has got the lock. */
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
std::timed_mutex m;
int x;
void add() { if (m.try_lock_for(std::chrono::milliseconds(10))) { x++; m.unlock(); } }
int main()
{
    std::thread a(add), b(add);
    a.join(); b.join();
    assert(x <= 2);
}
