/* C++20 thread.condition.condvarany: who waits is notified once the condition holds. */
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m; std::condition_variable_any cv; bool ready; int data;
int main()
{
    std::thread a([] { data = 1; { std::lock_guard g(m); ready = true; } cv.notify_one(); });
    { std::unique_lock lock(m); cv.wait(lock, [] { return ready; }); assert(data == 1); }
    a.join();
}
