/* C++20 thread.mutex.requirements: two locks are taken one after the other, in opposite orders. */
#include <cassert>
#include <mutex>
#include <thread>
struct Account { std::mutex m; int balance = 10; };
void move(Account &from, Account &to, int n)
{
    std::lock_guard<std::mutex> l1(from.m);
    std::lock_guard<std::mutex> l2(to.m);
    from.balance -= n;
    to.balance += n;
}
int main()
{
    Account a, b;
    std::thread first(move, std::ref(a), std::ref(b), 3);
    std::thread second(move, std::ref(b), std::ref(a), 5);
    first.join(); second.join();
    assert(a.balance == 12 && b.balance == 8);
}
