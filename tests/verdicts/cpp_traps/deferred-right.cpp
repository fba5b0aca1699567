/* C++20 futures.async: what is deferred is called by who waits for it first. */
#include <cassert>
#include <future>
int main()
{
    int x = 1;
    auto answer = std::async(std::launch::deferred, [&x] { return x; });
    x = 2;
    assert(answer.get() == 2);
}
