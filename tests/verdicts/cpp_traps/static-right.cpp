/* C++20 stmt.dcl p3: a local variable is initialised once, whoever comes first; a pointer of one's own is not. */
#include <cassert>
#include <thread>

struct S {
    int a;
    S() : a(5) {}
};
S &get() {
    static S s;
    return s;
}

int main() {
    std::thread t([] {
        assert(get().a == 5);
    });
    assert(get().a == 5);
    t.join();
}
