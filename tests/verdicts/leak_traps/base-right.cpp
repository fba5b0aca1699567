/* C++20 expr.delete p3: a destructor that is virtual gives back what an object has. */
#include <thread>

struct base {
    virtual ~base() = default;
};
struct derived : base {
    int *block;
    derived() : block(new int(1)) { }
    ~derived() override { delete block; }
};

int main()
{
    base *object = new derived;
    std::thread thread([=] { delete object; });
    thread.join();
}
