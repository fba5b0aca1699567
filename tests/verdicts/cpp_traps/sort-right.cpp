/* C++20 alg.sort: a thread sorts what main has written. */
#include <cassert>
#include <algorithm>
#include <numeric>
#include <vector>
#include <thread>
int main() { std::vector<int> v{3, 1, 2}; std::thread a([&v] { std::sort(v.begin(), v.end()); }); a.join(); assert(v[0] == 1 && v[2] == 3); assert(std::accumulate(v.begin(), v.end(), 0) == 6); }
