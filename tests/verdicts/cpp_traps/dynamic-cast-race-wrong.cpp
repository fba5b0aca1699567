/* C++20 intro.races: an object is deleted while a thread asks for its class. */
#include <thread>
struct Base { virtual ~Base() = default; };
struct Derived : Base { int value = 3; };
int main()
{
    Base *base = new Derived;
    bool is = false;
    std::thread worker([base, &is] { is = dynamic_cast<Derived *>(base) != nullptr; });
    delete base;
    worker.join();
    return is;
}
