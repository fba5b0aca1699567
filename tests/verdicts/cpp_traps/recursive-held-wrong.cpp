/* C++20 thread.mutex.recursive: a lock that is taken twice and given back once is held for ever. */
#include <mutex>
#include <thread>
std::recursive_mutex m;
int x;
void twice() { m.lock(); m.lock(); x++; m.unlock(); }
int main()
{
    std::thread a(twice), b(twice);
    a.join(); b.join();
}
