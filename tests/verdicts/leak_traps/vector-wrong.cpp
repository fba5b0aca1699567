/* C++20 vector.overview: a vector gives back its places, and not what they point to. */
#include <memory>
#include <thread>
#include <vector>

int main()
{
    std::vector<int *> blocks;
    blocks.emplace_back(new int(1));
    blocks.emplace_back(new int(2));
    int *last = &*blocks[1];
    std::thread thread([=] { ++*last; });
    thread.join();
}
