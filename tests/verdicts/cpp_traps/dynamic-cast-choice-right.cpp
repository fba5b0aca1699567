/* C++20 expr.dynamic.cast: which of two objects it is decides another thread. */
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
    One *o = dynamic_cast<One *>(b);
    if (o) assert(o->value == 3); else assert(b == &two);
    t.join();
}
