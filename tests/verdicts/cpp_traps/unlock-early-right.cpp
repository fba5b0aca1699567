/* C++20 thread.lock.unique.locking: what is behind unlock is not protected. */
#include <cassert>
#include <thread>
#include <mutex>

std::mutex m;
int d;
void g() {
    std::unique_lock<std::mutex> l(m);
    d++;
    l.unlock();
    l.lock();
    d++;
}

int main() {
    std::thread t(g);
    g();
    t.join();
    assert(d == 4);
}
