/* C++20 intro.races: data is written behind set_value, and read behind wait. */
#include <cassert>
#include <future>
#include <thread>
int data;
int main()
{
    std::promise<void> ready;
    auto future = ready.get_future();
    std::thread worker([future = std::move(future)]() mutable { future.wait(); assert(data == 3); });
    ready.set_value();
    data = 3;
    worker.join();
}
