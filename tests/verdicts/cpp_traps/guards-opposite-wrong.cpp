/* C++20 thread.mutex.requirements: two lock_guards of global mutexes, in opposite orders. */
#include <mutex>
#include <thread>
std::mutex a, b;
int main()
{
    std::thread first([] { std::lock_guard one(a); std::lock_guard other(b); });
    std::thread second([] { std::lock_guard one(b); std::lock_guard other(a); });
    first.join(); second.join();
}
