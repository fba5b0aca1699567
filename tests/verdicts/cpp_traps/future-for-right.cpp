/* C++20 futures.unique.future: data is looked at only where the future is ready. */
#include <cassert>
#include <chrono>
#include <future>
#include <thread>
int data;
int main()
{
    std::promise<void> p;
    auto f = p.get_future();
    std::thread t([&p] { data = 1; p.set_value(); });
    if (f.wait_for(std::chrono::milliseconds(10)) == std::future_status::ready) assert(data == 1);
    t.join();
}
