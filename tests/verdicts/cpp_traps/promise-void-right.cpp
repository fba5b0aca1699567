/* C++20 futures.promise: a future without a value orders what is before set_value. */
#include <cassert>
#include <future>
#include <thread>
int data;
int main()
{
    std::promise<void> ready;
    auto future = ready.get_future();
    std::thread worker([future = std::move(future)]() mutable { future.wait(); assert(data == 3); });
    data = 3;
    ready.set_value();
    worker.join();
}
