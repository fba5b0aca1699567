/* C++20 util.smartptr.shared: one of those that share an object is never given back. */
#include <memory>
#include <thread>

int main()
{
    auto shared = std::make_shared<int>(1);
    auto other = shared;
    int *value = shared.get();
    std::thread thread([=] { *value = 2; });
    thread.join();
    new std::shared_ptr<int>(shared);
}
