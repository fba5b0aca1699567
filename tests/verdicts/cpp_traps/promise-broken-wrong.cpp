/* C++20 futures.promise: a promise that is destroyed without a value leaves an exception, which nobody catches. */
#include <future>
#include <thread>
int main()
{
    std::future<int> future;
    {
        std::promise<int> promise;
        future = promise.get_future();
    }
    return future.get();
}
