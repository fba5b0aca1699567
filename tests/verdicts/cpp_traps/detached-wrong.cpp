/* C++20 basic.life p6: a detached thread uses a variable of a function that has ended. */
#include <thread>
#include <semaphore>

void f() {
    int local = 1;
    std::thread([&] {
        local = 2;
    }).detach();
}

int main() {
    f();
}
