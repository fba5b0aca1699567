/* C++20 basic.stc.dynamic.deallocation: what new gives is given back by delete, not free. */
#include <thread>
#include <cstdlib>

int main() {
    int *p = new int(1);
    std::thread t([p] {
        std::free(p);
    });
    t.join();
}
