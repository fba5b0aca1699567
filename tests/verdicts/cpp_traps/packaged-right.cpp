/* C++20 futures.task: a task that another thread calls makes its future ready. */
#include <cassert>
#include <future>
#include <thread>
int main()
{
    std::packaged_task<int(int)> task([](int x) { return x + 1; });
    auto future = task.get_future();
    std::thread worker(std::move(task), 4);
    assert(future.get() == 5);
    worker.join();
}
