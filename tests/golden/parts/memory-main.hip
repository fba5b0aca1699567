static void check(const hipError_t error, const char* const what) {
    if (error == hipSuccess) return;
    if (error == hipErrorLaunchTimeOut) std::_Exit(124); // a display's watchdog: a hang
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.150s", what, hipGetErrorString(error));
    fail(text, 2);
}

extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    const std::uint32_t size = std::min(256u, INSTANCES);
    std::uint32_t *memory, *results, *table;
    check(hipMalloc(&memory, sizeof(std::uint32_t) * WORDS), "hipMalloc");
    check(hipMalloc(&results, sizeof(std::uint32_t) * RESULT_WORDS), "hipMalloc");
    check(hipMalloc(&table, sizeof(std::uint32_t) * HISTOGRAM_WORDS), "hipMalloc");
    std::vector<std::uint32_t> histogram(HISTOGRAM_WORDS);
    hipFuncAttributes attributes; // loads the code, which is else done at the first launch
    for (const void* const kernel : {(const void*)reset, (const void*)run, (const void*)count})
        check(hipFuncGetAttributes(&attributes, kernel), "kernel");
    const auto launch = [&](const std::uint32_t seed) {
        reset<<<INSTANCES / size, size>>>(memory);
        run<<<GROUPS, GROUP_SIZE>>>(memory, results, seed);
        check(hipMemset(table, 0, sizeof(std::uint32_t) * HISTOGRAM_WORDS), "hipMemset");
        count<<<INSTANCES / size, size>>>(memory, results, table);
        check(hipGetLastError(), "launch");
        check(hipMemcpy(histogram.data(), table, sizeof(std::uint32_t) * HISTOGRAM_WORDS, hipMemcpyDeviceToHost),
              "kernel");
    };
    if (iterations > 0) launch(4294967295u);
    begin();
    for (long iteration = 0; iteration < iterations; ++iteration) {
        launch(std::uint32_t(iteration));
        report(iteration, histogram.data(), HISTOGRAM_WORDS, ROW_WORDS);
    }
    finish();
    return 0;
}

