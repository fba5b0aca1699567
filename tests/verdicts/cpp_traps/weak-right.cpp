/* C++20 util.smartptr.weak: lock gives a null pointer where the object is gone. */
#include <cassert>
#include <memory>
#include <thread>
int main()
{
    auto p = std::make_shared<int>(7);
    std::weak_ptr<int> w = p;
    std::thread a([w] { if (auto q = w.lock()) assert(*q == 7); });
    p.reset();
    a.join();
    assert(w.expired());
}
