/* C++20 thread.thread.destr: a thread that may be joined is destroyed: std::terminate. */
#include <thread>

int main() {
    std::thread t([]{});
}
