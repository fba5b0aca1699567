/* C++20 class.virtual: another thread puts an object of another class in place. */
#include <atomic>
#include <cassert>
#include <thread>
struct Base { virtual int get() const { return 0; } };
struct One : Base { int get() const override { return 1; } };
struct Two : Base { int get() const override { return 2; } };
constinit One one; constinit Two two;
std::atomic<Base *> which{&one};
int main()
{
    std::thread t([] { which = &two; });
    Base *b = which;
    int got = b->get();
    assert(got == 1);
    t.join();
}
