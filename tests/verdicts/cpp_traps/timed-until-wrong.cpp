/* C++20 intro.races: data is written whether the lock was taken in time or not. */
#include <chrono>
#include <mutex>
#include <thread>
std::timed_mutex m;
int x;
int main()
{
    std::thread t([] { m.lock(); x++; m.unlock(); });
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    bool got = m.try_lock_until(until);
    x++;
    if (got) m.unlock();
    t.join();
}
