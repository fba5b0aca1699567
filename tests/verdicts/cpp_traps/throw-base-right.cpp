/* C++20 except.handle p3: a handler of a base class catches. */
#include <cassert>
#include <thread>

struct B {
    int a = 1;
    virtual ~B() {}
};
struct D : B {
    int b = 2;
};

int main() {
    std::thread t([] {
        try {
            throw D();
        } catch (int) {
            assert(0);
        } catch (B &b) {
            assert(b.a == 1);
        }
    });
    t.join();
}
