static const char* device() {
    static char text[256];
    const unsigned cores = std::thread::hardware_concurrency();
#if __has_include(<sys/utsname.h>)
    utsname name;
    if (uname(&name) == 0) {
        std::snprintf(text, sizeof text, "%.99s %.99s, %u cores", name.sysname, name.machine, cores);
        return text;
    }
#endif
    std::snprintf(text, sizeof text, "%u cores", cores);
    return text;
}

static const char* driver() { return ""; }

static const char* compiler() {
#if defined(__clang__)
    return __VERSION__;
#elif defined(__GNUC__)
    return "g++ " __VERSION__;
#else
    return "";
#endif
}

