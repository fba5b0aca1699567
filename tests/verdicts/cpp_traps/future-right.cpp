/* C++20 futures.async: what the function does happens before get returns. */
#include <cassert>
#include <future>
int data;
int main()
{
    auto answer = std::async(std::launch::async, [] { data = 7; return 42; });
    assert(answer.get() == 42);
    assert(data == 7);
}
