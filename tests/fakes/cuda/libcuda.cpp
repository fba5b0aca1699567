// libcuda, as far as a list of GPUs needs it: two of them, an old one second; none with FAKE_CUDA=none.
#include <cstdlib>
#include <cstring>

extern "C" {
int cuInit(unsigned) {
    const char* const given = std::getenv("FAKE_CUDA");
    return given != nullptr && std::strcmp(given, "none") == 0 ? 100 : 0;
}
int cuGetErrorString(int, const char** words) { *words = "no CUDA-capable device is detected"; return 0; }
int cuDriverGetVersion(int* version) { *version = 13000; return 0; }
int cuDeviceGetCount(int* count) { *count = 2; return 0; }
int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char* name, int, int device) { std::strcpy(name, device ? "Fake Old" : "Fake New"); return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    *value = attribute == 75 ? (device ? 7 : 9) : (device ? 5 : 0);
    return 0;
}
}
