/* C++20 expr.dynamic.cast: the object is of another class, and the null pointer is dereferenced. */
#include <thread>
struct Base { virtual ~Base() = default; };
struct Derived : Base { int value = 3; };
struct Other : Base { };
int main()
{
    Base *base = new Other;
    int got = 0;
    std::thread worker([base, &got] {
        got = dynamic_cast<Derived *>(base)->value;
    });
    worker.join();
    delete base;
    return got;
}
