/* C++20 stoptoken: who sees that a stop was requested sees what was before the request. */
#include <atomic>
#include <cassert>
#include <thread>
int data;
int main()
{
    std::jthread worker([](std::stop_token token) { while (!token.stop_requested()) { } assert(data == 1); });
    data = 1;
    worker.request_stop();
}
