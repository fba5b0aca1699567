/* C++20 intro.races: what was moved is written by a thread and by main. */
#include <memory>
#include <thread>
int main()
{
    auto p = std::make_unique<int>(4);
    int *raw = p.get();
    std::thread t([](std::unique_ptr<int> p) { *p = 5; }, std::move(p));
    int x = *raw;
    t.join();
    return x;
}
