/* C++20 expr.dynamic.cast: a pointer to a base class is one to a derived class where the object is of it. */
#include <cassert>
#include <thread>
struct Base { virtual ~Base() = default; };
struct Derived : Base { int value = 3; };
struct Other : Base { };
int main()
{
    Base *base = new Derived;
    Other other;
    std::thread worker([base] {
        Derived *derived = dynamic_cast<Derived *>(base);
        assert(derived && derived->value == 3);
        assert(!dynamic_cast<Other *>(base));
    });
    worker.join();
    assert(!dynamic_cast<Derived *>(static_cast<Base *>(&other)));
    delete base;
}
