/* C++20 basic.life p6: a thread uses an object that is destroyed. */
#include <thread>

struct W {
    int x = 0;
    std::thread t;
    W() : t([this] {
        x = 1;
    }) {}
    ~W() {
        t.detach();
    }
};

int main() {
    W *w = new W;
    delete w;
}
