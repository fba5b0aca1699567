/* C++20 except.terminate: a destructor throws while another exception goes outwards. */
#include <stdexcept>
struct Guard { ~Guard() noexcept(false) { throw 1; } };
void f() { Guard g; throw std::runtime_error("x"); }
int main()
{
    try { f(); } catch (...) { }
}
