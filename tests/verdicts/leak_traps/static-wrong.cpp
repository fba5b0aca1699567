/* What there is to be once is made each time. */
#include <thread>

static int &get()
{
    int *once = new int(1);
    return *once;
}

int main()
{
    std::thread thread([] { ++get(); });
    thread.join();
    return get() == 0;
}
