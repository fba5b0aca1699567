/* A static variable points to what there is once. */
#include <thread>

static int &get()
{
    static int *once = new int(1);
    return *once;
}

int main()
{
    std::thread thread([] { ++get(); });
    thread.join();
    return get() == 0;
}
