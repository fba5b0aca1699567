r"""Holds the C++ text by which a program of its own reports on its test. It is for C++ and CUDA, and has the main
program of a progress test.

Two readers look at what is printed. ``backends.shared.process`` waits for ``ready`` and for a line each iteration.
``synth import`` looks for JSON in a log that was kept elsewhere: a line when the test begins, and one with its result
or with what went wrong (``backends.shared.log``). Every line is flushed at once, so a program that is killed leaves
whole ones.
"""

SAYS = r"""static const char* trial = ""; // which test this is, the beginning of an object of JSON
static long asked = 0;         // iterations; nothing is said where there are none

static void quote(const char* const name, const char* text) {
    std::printf(",\"%s\":\"", name);
    for (; *text != '\0'; ++text) {
        const unsigned c = static_cast<unsigned char>(*text);
        std::printf(c < 32 || c > 126 || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
    }
    std::printf("\"");
}

static void identify() {
    std::printf("%s,\"iterations\":%ld", trial, asked);
    quote("device", device());
    quote("driver", driver());
    quote("compiler", compiler());
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    quote("date", date);
}

static void begin() {
    if (asked > 0) {
        std::printf("{\"began\":");
        identify();
        std::puts("}}");
    }
    std::puts("ready");
    std::fflush(stdout);
}

[[noreturn]] static void fail(const char* const error, const int code) {
    std::fprintf(stderr, "%s\n", error);
    if (asked > 0) {
        identify();
        quote("error", error);
        std::puts("}");
        std::fflush(stdout);
    }
    std::_Exit(code);
}
"""
"""Needs ``device()``, ``driver()`` and ``compiler()``, which say in words what runs the test. Headers: cstdint, cstdio,
cstdlib, ctime. C's own means, for each program is compiled once for each test."""

MAIN = r"""extern const char TRIAL[]; // the end of this file
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
    std::printf("$name $mapping: terminated in all of %ld iterations\n", iterations);
    return 0;
}
"""
"""The main program of a progress test: it needs ``SAYS``, ``set_up()`` and ``iterate(warm_up)``."""

COUNTS = r"""struct Outcome {
    std::vector<std::int32_t> values;
    std::uint64_t count;
};
static std::vector<Outcome> totals; // of all launches, by value
static std::uint64_t others = 0;

static void add(std::vector<Outcome>& outcomes, const Outcome& seen) {
    auto at = outcomes.begin();
    while (at != outcomes.end() && at->values < seen.values) ++at;
    if (at != outcomes.end() && at->values == seen.values) at->count += seen.count;
    else outcomes.insert(at, seen);
}

// The histogram of a launch: its rows, and the instances that found none.
static void report(const long iteration, const std::uint32_t* const histogram, const std::uint32_t words,
                   const std::uint32_t row_words) {
    std::vector<Outcome> rows;
    for (const std::uint32_t* row = histogram + $header; row != histogram + words; row += row_words)
        if (row[1] != 0u) add(rows, {{row + 2, row + row_words}, row[1]});
    std::printf("iteration %ld [[", iteration);
    for (const Outcome& row : rows) {
        std::printf("%s[%u", &row == rows.data() ? "" : ", ", static_cast<unsigned>(row.count));
        for (const std::int32_t value : row.values) std::printf(", %u", static_cast<unsigned>(value));
        std::printf("]");
        add(totals, row);
    }
    std::printf("], %u]\n", histogram[1]);
    std::fflush(stdout);
    others += histogram[1];
}

static void finish() {
    if (asked < 1) return;
    identify();
    std::printf(",\"outcomes\":[");
    for (const Outcome& row : totals) {
        std::printf("%s[[", &row == totals.data() ? "" : ",");
        for (const std::int32_t& value : row.values) std::printf("%s%d", &value == row.values.data() ? "" : ",", value);
        std::printf("],%llu]", static_cast<unsigned long long>(row.count));
    }
    std::printf("],\"other\":%llu,\"launches\":%ld,\"hung\":false}\n", static_cast<unsigned long long>(others), asked);
}
"""
"""The code by which programs of memory tests print a launch, and all of them. Further header: vector."""
