/* C++20 expr.dynamic.cast: another thread puts an object of another class in place. */
#include <atomic>
#include <cassert>
#include <thread>
struct Base { virtual ~Base() = default; };
struct One : Base { int value = 3; };
struct Two : Base { };
One one; Two two;
std::atomic<Base *> which{&one};
int main()
{
    std::thread t([] { which = &two; });
    Base *b = which;
    assert(dynamic_cast<One *>(b));
    t.join();
}
