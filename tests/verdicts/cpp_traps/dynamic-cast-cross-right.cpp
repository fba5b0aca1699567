/* C++20 expr.dynamic.cast: from one base class to another one, to the class itself, and to void. */
#include <cassert>
#include <thread>
struct A { virtual ~A() = default; int a = 1; };
struct B { virtual ~B() = default; int b = 2; };
struct C : A, B { int c = 3; };
int main()
{
    C object;
    B *b = &object;
    std::thread t([b] { A *a = dynamic_cast<A *>(b); assert(a && a->a == 1); C *c = dynamic_cast<C *>(b); assert(c && c->c == 3); });
    t.join();
    assert(dynamic_cast<void *>(b) == &object);
}
