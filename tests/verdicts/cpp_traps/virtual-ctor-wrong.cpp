/* C++20 class.cdtor p4: a virtual function is called while a derived class is made. */
#include <thread>

struct B {
    std::thread t;
    B() : t([this] {
        f();
    }) {} virtual void f() {} virtual ~B() {
        t.join();
    }
};
struct D : B {
    int x = 1;
    void f() override {
        x = 2;
    }
};

int main() {
    D d;
}
