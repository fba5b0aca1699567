/* C++20 intro.races: what a task writes and main writes before it gets the value. */
#include <cassert>
#include <future>
#include <thread>
int main()
{
    int result = 0;
    std::packaged_task<int(int)> task([&result](int x) { result = x; return x + 1; });
    auto future = task.get_future();
    std::thread worker(std::move(task), 4);
    result = 1;
    assert(future.get() == 5);
    worker.join();
}
