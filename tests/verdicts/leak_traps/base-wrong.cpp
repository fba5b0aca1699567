/* C++20 expr.delete: what an object has its destructor is to give back. */
#include <thread>

struct base {
    virtual ~base() = default;
};
struct derived : base {
    int *block;
    derived() : block(new int(1)) { }
    ~derived() override { *block = 2; }
};

int main()
{
    base *object = new derived;
    std::thread thread([=] { delete object; });
    thread.join();
}
