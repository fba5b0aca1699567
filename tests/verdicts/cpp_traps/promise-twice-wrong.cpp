/* C++20 futures.promise: a second value of a promise throws. */
#include <future>
int main()
{
    std::promise<int> promise;
    auto future = promise.get_future();
    promise.set_value(1);
    promise.set_value(2);
    return 0;
}
