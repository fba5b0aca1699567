/* C++20 except.ctor: a destructor throws and catches while another exception goes outwards. */
#include <cassert>
#include <stdexcept>
int caught;
struct Guard { ~Guard() { try { throw 1; } catch (int) { caught++; } } };
void f() { Guard g; throw std::runtime_error("x"); }
int main()
{
    try { f(); } catch (const std::runtime_error &) { caught += 10; }
    assert(caught == 11);
}
