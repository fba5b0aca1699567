/* C++20 util.smartptr.shared: the last of those that share an object gives it back. */
#include <memory>
#include <thread>

int main()
{
    auto shared = std::make_shared<int>(1);
    auto other = shared;
    int *value = shared.get();
    std::thread thread([=] { *value = 2; });
    thread.join();
}
