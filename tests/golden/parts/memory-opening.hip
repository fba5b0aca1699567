#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#include <hip/hip_runtime.h>

// Between two marks is what an instruction of the test became; clang moves no access to memory over a mark.
#define MARK(place) asm volatile("; " place : : : "memory")

