/* C++20 basic.life p6: a detached thread uses a variable of a function that has ended. */
#include <atomic>
#include <thread>

std::atomic<bool> done;
void f() {
    int local = 1;
    std::thread([&] {
        local = 2;
        done = true;
    }).detach();
    while (!done) {}
}

int main() {
    f();
}
