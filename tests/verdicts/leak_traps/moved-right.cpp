/* C++20 thread.thread.constr: a thread gives back what is moved to it. */
#include <memory>
#include <thread>

int main()
{
    std::thread thread([block = std::make_unique<int>(1)] { ++*block; });
    thread.detach();
}
