/* C++20 futures.unique.future: a future has its value once; a second get has undefined behaviour. */
#include <future>
int main()
{
    auto answer = std::async(std::launch::async, [] { return 1; });
    answer.get();
    answer.get();
}
