/* C++20 futures.promise: a promise is moved into a thread. */
#include <cassert>
#include <future>
#include <thread>
void work(std::promise<int> promise, int x) { promise.set_value(x + 1); }
int main()
{
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread worker(work, std::move(promise), 4);
    assert(future.get() == 5);
    worker.join();
}
