/* C++20 class.virtual: a virtual function of an object that is made. */
#include <cassert>
#include <thread>

struct B {
    virtual int f() {
        return 1;
    }
    virtual ~B() {}
};
struct D : B {
    int f() override {
        return 2;
    }
};

int main() {
    D d;
    B *b = &d;
    std::thread t([b] {
        assert(b->f() == 2);
    });
    t.join();
}
