/* C++20 util.smartptr.weak: lock may give a null pointer, which is not looked at. */
#include <memory>
#include <thread>
int main()
{
    auto p = std::make_shared<int>(7);
    std::weak_ptr<int> w = p;
    int got = 0;
    std::thread a([w, &got] { got = *w.lock(); });
    p.reset();
    a.join();
    return got;
}
