/* C++20 thread.condition.condvar: wait_for gives up though the condition does not hold. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m; std::condition_variable cv; bool ready; int data;
int main()
{
    std::thread a([] { data = 1; { std::lock_guard g(m); ready = true; } cv.notify_one(); });
    { std::unique_lock lock(m);
      cv.wait_for(lock, std::chrono::milliseconds(100), [] { return ready; }); }
    assert(data == 1);
    a.join();
}
