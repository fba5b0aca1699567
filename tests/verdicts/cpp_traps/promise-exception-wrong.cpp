/* C++20 futures.promise: get throws what set_exception was given, which no handler is for. */
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>
int main()
{
    std::promise<int> p;
    auto f = p.get_future();
    std::thread t([&p] { try { throw std::logic_error("x"); } catch (...) { p.set_exception(std::current_exception()); } });
    try { f.get(); } catch (const std::runtime_error &) { }
    t.join();
}
