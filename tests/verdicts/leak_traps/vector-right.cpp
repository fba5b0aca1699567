/* What a vector of unique_ptr has is given back with it. */
#include <memory>
#include <thread>
#include <vector>

int main()
{
    std::vector<std::unique_ptr<int>> blocks;
    blocks.emplace_back(new int(1));
    blocks.emplace_back(new int(2));
    int *last = &*blocks[1];
    std::thread thread([=] { ++*last; });
    thread.join();
}
