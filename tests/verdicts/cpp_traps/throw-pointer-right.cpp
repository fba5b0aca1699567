/* C++20 except.handle p3: a pointer to letters is thrown. */
#include <cassert>
#include <thread>

int main() {
    std::thread t([] {
        try {
            throw "abc";
        } catch (const char *s) {
            assert(s[1] == 98);
        }
    });
    t.join();
}
