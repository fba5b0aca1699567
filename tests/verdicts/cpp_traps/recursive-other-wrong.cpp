/* C++20 thread.mutex.recursive: a thread gives back what another one holds. */
#include <mutex>
#include <thread>
std::recursive_mutex m;
int main()
{
    m.lock();
    std::thread a([] { m.unlock(); });
    a.join();
}
