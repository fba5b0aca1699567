/* C++20 thread.thread.member p5: a thread that was moved from is not joinable, and join throws. */
#include <thread>

int main() {
    std::thread t([]{});
    std::thread u = std::move(t);
    if (t.joinable()) t.join();
    u.join();
}
