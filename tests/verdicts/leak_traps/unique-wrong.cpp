/* C++20 unique.ptr.single.modifiers: what a unique_ptr has let go is nobody's. */
#include <memory>
#include <thread>

int main()
{
    auto block = std::make_unique<int>(1);
    std::thread thread([&] { ++*block; });
    thread.join();
    block.release();
}
