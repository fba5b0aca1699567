#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>
#if __has_include(<sys/utsname.h>)
#include <sys/utsname.h>
#endif

