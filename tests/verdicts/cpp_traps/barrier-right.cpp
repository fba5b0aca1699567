/* C++20 thread.barrier: who passes a barrier has what others did before. */
#include <cassert>
#include <thread>
#include <barrier>

int a[2];

int main() {
    std::barrier<> b(2);
    std::thread t([&] {
        a[0] = 1;
        b.arrive_and_wait();
        assert(a[1] == 1);
    });
    a[1] = 1;
    b.arrive_and_wait();
    assert(a[0] == 1);
    t.join();
}
