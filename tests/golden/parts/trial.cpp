static const char* trial = ""; // which test this is, the beginning of an object of JSON
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
