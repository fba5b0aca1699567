/* C++20 thread.lock.algorithm: std::lock of two unique_locks, in opposite orders. */
#include <cassert>
#include <mutex>
#include <thread>
struct Account { std::mutex m; int balance = 10; };
void move(Account &from, Account &to, int n)
{
    std::unique_lock<std::mutex> l1(from.m, std::defer_lock), l2(to.m, std::defer_lock);
    std::lock(l1, l2);
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
