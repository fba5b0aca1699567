/* C++20 intro.races: two threads have a reference to one variable. */
#include <functional>
#include <thread>
void set(int &x, int v) { x = v; }
int main()
{
    int a = 0;
    std::thread t(set, std::ref(a), 1), u(set, std::ref(a), 2);
    t.join(); u.join();
}
