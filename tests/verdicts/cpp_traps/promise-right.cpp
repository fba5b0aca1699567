/* C++20 futures.promise: set_value happens before get returns. */
#include <cassert>
#include <future>
#include <thread>
int data;
int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread worker([&promise] { data = 1; promise.set_value(2); });
    assert(future.get() == 2);
    assert(data == 1);
    worker.join();
}
