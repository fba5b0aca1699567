/* C++20 futures.state: get throws what the function has thrown. */
#include <cassert>
#include <future>
#include <stdexcept>
int main()
{
    auto answer = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
    bool caught = false;
    try { answer.get(); } catch (const std::runtime_error &) { caught = true; }
    assert(caught);
}
