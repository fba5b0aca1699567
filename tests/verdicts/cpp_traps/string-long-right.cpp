/* C++20 basic.string: a long string is written before the lock is given back, and read under it. */
#include <cassert>
#include <string>
#include <thread>
int main()
{
    std::string message = "a string that is too long for the small buffer";
    std::size_t n = 0;
    std::thread a([message, &n] { n = message.size(); });
    std::thread b([&message] { assert(message[0] == 'a'); });
    a.join(); b.join();
    assert(n == 46);
}
