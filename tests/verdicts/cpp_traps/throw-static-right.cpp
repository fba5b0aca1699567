/* C++20 stmt.dcl p3: a static variable whose initialisation throws is initialised again. */
#include <cassert>
#include <thread>

int n;
struct S {
    S() {
        if (n++ == 0) throw 1;
    }
};
S &g() {
    static S s;
    return s;
}

int main() {
    try {
        g();
    } catch (int) {} std::thread t([] {
        g();
    });
    t.join();
    assert(n == 2);
}
