"""The main program of a progress test that is a program of its own, in C++ as in CUDA."""

MAIN = """\
int main(int argc, char** argv) {
    const long iterations = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    set_up();
    std::puts("ready");
    std::fflush(stdout);
    for (long i = 0; i < iterations; ++i) {
        const std::uint32_t finished = iterate(); // a test that hangs stays here
        if (finished != INSTANCES * SIZE) {
            std::fprintf(stderr, "threads were cut short: sum of counters %u, not %u\\n", finished, INSTANCES * SIZE);
            return 3;
        }
        std::printf("iteration %ld terminated\\n", i);
        std::fflush(stdout);
    }
    std::printf("$name $mapping: terminated in all of %ld iterations\\n", iterations);
    return 0;
}
"""
"""The main program, shared with CUDA: it needs ``set_up()`` and ``iterate()``. The lines that it prints are the
protocol that ``backends.shared.process`` reads."""
