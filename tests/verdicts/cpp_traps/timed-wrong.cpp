/* C++20 thread.timedmutex.class: try_lock_for may give up, and what it gives is not looked at. */
#include <chrono>
#include <mutex>
#include <thread>
std::timed_mutex m;
int x;
void add() { m.try_lock_for(std::chrono::milliseconds(10)); x++; m.unlock(); }
int main()
{
    std::thread a(add), b(add);
    a.join(); b.join();
}
