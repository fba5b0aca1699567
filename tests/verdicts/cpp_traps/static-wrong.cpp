/* C++20 stmt.dcl p3: a local variable is initialised once, whoever comes first; a pointer of one's own is not. */
#include <thread>

struct S {
    int a;
    S() : a(5) {}
};
S *p;
S &get() {
    if (!p) p = new S;
    return *p;
}

int main() {
    std::thread t([] {
        get();
    });
    get();
    t.join();
}
