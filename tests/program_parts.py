r"""The parts that generated programs have in common, which ``tests/golden/parts`` holds once.

A golden file of a program has the line ``<parts/trial.cpp>`` where the program has the text of that file, so that a
change of it is a change of one golden file. The tests still compare every byte: a part is found by its first and last
lines, compared with its own file, and what is left of the program with the program's.
"""

PARTS = {
    "addresses.h": r"^#define PERMUTED\(.*?^#define RESULT\([^\n]*\n",
    "{program}.glsl": r"^#version 450\n[^\n]*\n[^\n]*\n#define .*?(?=^layout\()",  # stands in each of its shaders
    "addresses.wgsl": r"^fn PERMUTED\(.*?(?=^@compute)",
    "memory-opening.cpp": r"^#include <algorithm>\n#include <atomic>.*?(?=^static const char\* device\(\))",
    "memory-main.cpp": r"^extern const char TRIAL\[\];[^\n]*\nint main.*?report\(iteration, histogram, .*?^}\n",
    "memory-main.hip": r"^static void check\(const hipError_t[^}]*?// a display's watchdog.*?(?=^const char TRIAL\[\])",
    "memory-opening.hip": r"^#include <algorithm>\n(?:#include [^\n]*\n)*?#include <hip/.*?(?=^#define THREADS)",
    "memory-helpers.hip": r"^__device__ inline std::uint32_t claim\(.*?(?=^__global__ void reset)",
    "memory-main.cu": r"^static void check\([^}]*?// a display's watchdog.*?(?=^const char TRIAL\[\])",
    "progress-opening.cl": r"^#if __OPENCL_C_VERSION__[^\n]*\ntypedef atomic_uint cell_t.*?(?=^#define THREADS)",
    "progress-opening.cpp": r"^#include <atomic>\n#include <cstdint>.*?(?=^#define THREADS)",
    "progress-opening.cu": r"^#include <cstdint>\n.*?<cuda_runtime.h>\n\n__device__ .*?(?=^#define THREADS)",
    "progress-opening.metal": r"^#include <metal_stdlib>\n.*?^static inline uint exchange_at.*?(?=^#define THREADS)",
    "progress-launch.cpp": r"^static void set_up\(\) \{\}\n.*?(?=^extern const char TRIAL\[\])",
    "progress-launch.hip": r"^static void check\(const hipError_t[^}]*?_Exit\(124\);\n.*?(?=^    test<<<)",
    "progress-launch.cu": r"^static void check\([^}]*?_Exit\(124\);\n.*?(?=^    test<<<)",
    "progress-main.cpp": r"^extern const char TRIAL\[\];[^\n]*\nint main.*?^    }\n(?=[^\n]*: terminated in all)",
    "device.cpp": r"^static const char\* device\(\) \{\n    static char.*?(?=^static const char\* trial)",
    "device.hip": r"^static const char\* device\(\) \{\n    static hipDeviceProp_t.*?(?=^static const char\* trial)",
    "device.cu": r"^static const char\* device\(\) \{\n    static cudaDeviceProp.*?(?=^static const char\* trial)",
    "trial.cpp": r"^static const char\* trial.*?^\[\[noreturn\]\].*?^}\n",
    "outcomes.cpp": r"^struct Outcome \{.*?^static void finish.*?^}\n",
}
"""Regular expression of each part, in the order in which they are taken out; ``{program}`` is the name of a program."""
