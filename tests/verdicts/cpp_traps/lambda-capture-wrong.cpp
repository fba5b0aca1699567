/* C++20 expr.prim.lambda.capture p12: a lambda holds a reference to a variable that is no more when its thread runs. */
#include <thread>

std::thread start() {
    int local = 1;
    return std::thread([&local] {
        local++;
    });
}

int main() {
    std::thread t = start();
    t.join();
}
