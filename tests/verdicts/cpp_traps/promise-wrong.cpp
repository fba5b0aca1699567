/* C++20 intro.races: data is written behind set_value, and read behind get. */
#include <cassert>
#include <future>
#include <thread>
int data;
int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread worker([&promise] { promise.set_value(2); data = 1; });
    assert(future.get() == 2);
    assert(data == 1);
    worker.join();
}
