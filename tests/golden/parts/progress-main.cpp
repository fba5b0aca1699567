extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    set_up();
    if (iterations > 0) iterate(true);
    begin();
    for (long i = 0; i < iterations; ++i) {
        const std::uint32_t finished = iterate(false); // a test that hangs stays here
        if (finished != INSTANCES * SIZE) {
            char error[80];
            const char* const what = "threads were cut short: sum of counters %u, not %u";
            std::snprintf(error, sizeof error, what, finished, INSTANCES * SIZE);
            fail(error, 3);
        }
        std::printf("iteration %ld terminated\n", i);
        std::fflush(stdout);
    }
    if (asked > 0) {
        identify();
        std::printf(",\"outcomes\":\"");
        for (long i = 0; i < iterations; ++i) std::printf("T");
        std::puts("\"}");
    }
