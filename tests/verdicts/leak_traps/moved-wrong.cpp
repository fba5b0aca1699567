/* Nobody gives back what a thread has the address of. */
#include <memory>
#include <thread>

int main()
{
    std::thread thread([block = new int(1)] { ++*block; });
    thread.detach();
}
