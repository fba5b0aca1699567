/* C++20 intro.races: nothing orders the write behind async with that of the function. */
#include <cassert>
#include <future>
int data;
int main()
{
    auto answer = std::async(std::launch::async, [] { data = 7; return 42; });
    data = 8;
    assert(answer.get() == 42);
}
