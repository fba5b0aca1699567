/* C++20 views.span: a span is a view: its elements race. */
#include <thread>
#include <span>

int main() {
    int a[2] = {};
    std::span<int> s(a);
    std::thread t([s] {
        s[1] = 1;
    });
    s[1] = 2;
    t.join();
}
