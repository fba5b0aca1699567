/* C++20 thread.latch: who waits at a latch has what was done before it was counted down. */
#include <cassert>
#include <thread>
#include <latch>

std::latch l(2);
int d;

int main() {
    std::thread t([] {
        d = 1;
        l.count_down();
    });
    l.arrive_and_wait();
    assert(d == 1);
    t.join();
}
