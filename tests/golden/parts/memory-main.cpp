extern const char TRIAL[]; // the end of this file
int main(int argc, char** argv) {
    trial = TRIAL;
    const long iterations = asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20;
    if (iterations > 0) iterate(4294967295u);
    begin();
    for (long iteration = 0; iteration < iterations; ++iteration) {
        iterate(static_cast<std::uint32_t>(iteration));
        report(iteration, histogram, HISTOGRAM_WORDS, ROW_WORDS);
    }
    finish();
    return 0;
}
