/* C++20 stoptoken: a stop that is requested behind the join is never seen. */
#include <stop_token>
#include <thread>
int main()
{
    std::stop_source source;
    std::thread worker([token = source.get_token()] { while (!token.stop_requested()) { } });
    worker.join();
    source.request_stop();
}
