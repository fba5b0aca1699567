/* C++20 thread.thread.constr p6: an exception leaves the function of a thread: std::terminate. */
#include <thread>

int main() {
    std::thread t([] {
        throw 1;
    });
    t.join();
}
