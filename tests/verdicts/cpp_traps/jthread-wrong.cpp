/* C++20 thread.jthread.cons: a jthread is joined where it is destroyed, and runs until then. */
#include <thread>

int d;

int main() {
    std::jthread t([] {
        d = 1;
    });
    d = 2;
}
