static void check(const cudaError_t error, const char* const what) {
    if (error == cudaSuccess) return;
    if (error == cudaErrorLaunchTimeout) std::_Exit(124);
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.150s", what, cudaGetErrorString(error));
    fail(text, 2);
}

static std::uint32_t* memory;
static const std::size_t bytes = sizeof(std::uint32_t) * (std::size_t{INSTANCES} * LOCATIONS + 1u) * STRIDE;

static void set_up() {
    cudaFuncAttributes attributes; // loads the code, which is else done at the first launch
    check(cudaFuncGetAttributes(&attributes, (const void*)test), "kernel");
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
}

static std::uint32_t iterate(const bool warm_up) {
    std::uint32_t finished = 0;
    check(cudaMemset(memory, 0, bytes), "cudaMemset");
    if (warm_up) check(cudaMemset(&WARM_UP, 1, sizeof WARM_UP), "cudaMemset");
