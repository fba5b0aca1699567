/* C++20 thread.condition: who waits without a condition may come after the notification. */
#include <thread>
#include <mutex>
#include <condition_variable>

std::mutex m;
std::condition_variable c;
bool ready;

int main() {
    std::thread t([] {
        std::unique_lock<std::mutex> l(m);
        c.wait(l);
    });
    {
        std::lock_guard<std::mutex> g(m);
        ready = true;
    }
    c.notify_one();
    t.join();
}
