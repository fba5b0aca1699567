/* C++20 intro.races: a long string is read while another thread writes it. */
#include <cassert>
#include <string>
#include <thread>
int main()
{
    std::string message = "a string that is too long for the small buffer";
    std::thread a([&message] { message[0] = 'b'; });
    std::thread b([&message] { assert(message[0] == 'a'); });
    a.join(); b.join();
}
