/* C++20 except.ctor: what is between is destroyed, and gives a block back. */
#include <memory>
#include <stdexcept>
#include <thread>

static void work()
{
    std::unique_ptr<int> block(new int(1));
    if (*block)
        throw std::runtime_error("no");
}

int main()
{
    std::thread thread([] {
        try {
            work();
        } catch (const std::runtime_error &) {
        }
    });
    thread.join();
}
