struct Outcome {
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
    for (const std::uint32_t* row = histogram + 2; row != histogram + words; row += row_words)
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
