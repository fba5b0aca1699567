static const char* device() {
    static hipDeviceProp_t properties;
    static char text[sizeof properties.name + sizeof properties.gcnArchName + 4];
    int number = 0;
    if (text[0] != '\0') return text; // after an error nothing can be asked
    if (hipGetDevice(&number) != hipSuccess || hipGetDeviceProperties(&properties, number) != hipSuccess)
        return "no HIP device";
    std::snprintf(text, sizeof text, "%s (%s)", properties.name, properties.gcnArchName);
    return text;
}

static const char* driver() {
    static char text[32];
    int version = 0;
    if (hipDriverGetVersion(&version) != hipSuccess || version == 0) return "";
    std::snprintf(text, sizeof text, "HIP %d.%d.%d", version / 10000000, version / 100000 % 100, version % 100000);
    return text;
}

static const char* compiler() {
    static char text[64];
    std::snprintf(text, sizeof text, "clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
    return text;
}

