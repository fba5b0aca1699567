/* C++20 except.ctor: a pointer that is between is lost. */
#include <memory>
#include <stdexcept>
#include <thread>

static void work()
{
    int *block(new int(1));
    if (*block)
        throw std::runtime_error("no");
    delete block;
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
