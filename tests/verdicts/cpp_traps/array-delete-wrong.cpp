/* C++20 expr.delete p2: what new[] gives is given back by delete[]. */
#include <thread>

struct D {
    int a;
    ~D() {
        a = 0;
    }
};

int main() {
    int *p = new int[2];
    std::thread t([p] {
        delete p;
    });
    t.join();
}
