/* C++20 intro.races: wait_for may give up before data is written. */
#include <chrono>
#include <future>
#include <thread>
int data;
int main()
{
    std::promise<void> p;
    auto f = p.get_future();
    std::thread t([&p] { data = 1; p.set_value(); });
    f.wait_for(std::chrono::milliseconds(10));
    int got = data;
    t.join();
    return got;
}
