/* C++20 util.smartptr.shared: one pointer is copied by a thread and reset by another. */
#include <memory>
#include <thread>
std::shared_ptr<int> p = std::make_shared<int>(1);
int main()
{
    std::thread a([] { auto q = p; });
    std::thread b([] { p.reset(); });
    a.join(); b.join();
}
