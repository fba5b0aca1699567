/* C++20 intro.races p9: the first look at a pointer that another thread sets has to acquire. */
#include <thread>
#include <mutex>

struct S {
    int a = 5;
};
std::mutex m;
S *p;
S *get() {
    if (!p) {
        std::lock_guard<std::mutex> g(m);
        if (!p) p = new S;
    }
    return p;
}

int main() {
    std::thread t([] {
        get();
    });
    get();
    t.join();
}
