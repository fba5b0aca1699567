/* C++20 thread.condition.condvarany: who waits is never notified. */
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m; std::condition_variable_any cv; bool ready;
int main()
{
    std::thread a([] { { std::lock_guard g(m); ready = true; } });
    { std::unique_lock lock(m); cv.wait(lock, [] { return ready; }); }
    a.join();
}
