/* C++20 intro.races: data is written behind the request, and read by who has seen it. */
#include <atomic>
#include <cassert>
#include <thread>
int data;
int main()
{
    std::jthread worker([](std::stop_token token) { while (!token.stop_requested()) { } assert(data == 1); });
    worker.request_stop();
    data = 1;
}
