/* C++20 util.smartptr.shared: a thread has the address of an object that a shared pointer destroys. */
#include <memory>
#include <thread>
struct Node { int value = 1; };
int main()
{
    auto p = std::make_shared<Node>();
    int got = 0;
    std::thread a([q = p.get(), &got] { got = q->value; });
    p.reset();
    a.join();
    return got;
}
