/* C++20 util.smartptr.shared: copies of a pointer in two threads share a count. */
#include <cassert>
#include <memory>
#include <thread>
struct Node { int value; explicit Node(int v) : value(v) { } };
int main()
{
    auto p = std::make_shared<Node>(3);
    std::thread a([p] { assert(p->value == 3); });
    std::thread b([p = std::move(p)] { assert(p->value == 3); });
    a.join(); b.join();
}
