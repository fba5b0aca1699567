/* C++20 futures.promise: nobody makes the future ready for which main waits. */
#include <future>
#include <thread>
int main()
{
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread worker([&promise] { });
    future.wait();
    worker.join();
}
