/* C++20 thread.mutex.requirements: two locks are taken in two orders. */
#include <thread>
#include <mutex>

std::mutex a, b;

int main() {
    std::thread t([] {
        std::lock_guard<std::mutex> x(a);
        std::lock_guard<std::mutex> y(b);
    });
    {
        std::lock_guard<std::mutex> x(b);
        std::lock_guard<std::mutex> y(a);
    }
    t.join();
}
