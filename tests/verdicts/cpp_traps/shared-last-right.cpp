/* C++20 util.smartptr.shared: whoever has the last copy of a pointer destroys the object. */
#include <cassert>
#include <memory>
#include <thread>
struct Node { int value = 1; ~Node() { value = 0; } };
int main()
{
    std::shared_ptr<Node> p = std::make_shared<Node>();
    std::thread a([q = p]() mutable { assert(q->value == 1); q.reset(); });
    p.reset();
    a.join();
}
