/* C++20 thread.thread.constr: an argument is moved into a thread. */
#include <cassert>
#include <memory>
#include <string>
#include <thread>
#include <vector>
int main()
{
    auto p = std::make_unique<int>(4);
    std::vector<int> v{1, 2, 3};
    std::string s = "x";
    std::thread t([](std::unique_ptr<int> p, std::vector<int> v, std::string s) { assert(*p == 4 && v.size() == 3 && s == "x"); },
                  std::move(p), std::move(v), std::move(s));
    assert(!p);
    t.join();
}
