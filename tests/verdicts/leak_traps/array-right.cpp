/* C++20 expr.new: what new[] gives is given back by delete[]. */
#include <thread>

struct cell {
    int value = 0;
    ~cell() { value = 1; }
};

int main()
{
    cell *cells = new cell[2];
    std::thread thread([=] { cells[1].value = 2; });
    thread.join();
    delete[] cells;
}
