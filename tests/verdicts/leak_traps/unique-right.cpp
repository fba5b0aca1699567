/* C++20 unique.ptr: what a unique_ptr has is given back with it. */
#include <memory>
#include <thread>

int main()
{
    auto block = std::make_unique<int>(1);
    std::thread thread([&] { ++*block; });
    thread.join();
}
