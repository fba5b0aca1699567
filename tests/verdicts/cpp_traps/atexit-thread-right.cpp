/* C++20 support.start.term: what is registered is done at the end. */
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m; std::condition_variable cv; bool ready;
int main()
{
    std::thread a([] { std::unique_lock lock(m); ready = true; std::notify_all_at_thread_exit(cv, std::move(lock)); });
    a.detach();
    std::unique_lock lock(m);
    cv.wait(lock, [] { return ready; });
}
