static void check(const hipError_t error, const char* const what) {
    if (error == hipSuccess) return;
    if (error == hipErrorLaunchTimeOut) std::_Exit(124);
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.150s", what, hipGetErrorString(error));
    fail(text, 2);
}

static std::uint32_t* memory;
static const std::size_t bytes = sizeof(std::uint32_t) * (std::size_t{INSTANCES} * LOCATIONS + 1u) * STRIDE;

static void set_up() {
    hipFuncAttributes attributes; // loads the code, which is else done at the first launch
    check(hipFuncGetAttributes(&attributes, (const void*)test), "kernel");
    check(hipMalloc(&memory, bytes), "hipMalloc");
}

static std::uint32_t iterate(const bool warm_up) {
    std::uint32_t finished = 0;
    check(hipMemset(memory, 0, bytes), "hipMemset");
    if (warm_up) check(hipMemset(&WARM_UP, 1, sizeof WARM_UP), "hipMemset");
