static const char* device() {
    static cudaDeviceProp properties;
    int number = 0;
    if (properties.name[0] != '\0') return properties.name; // after an error nothing can be asked
    if (cudaGetDevice(&number) != cudaSuccess || cudaGetDeviceProperties(&properties, number) != cudaSuccess)
        return "no CUDA device";
    return properties.name;
}

static const char* driver() {
    static char text[32];
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "";
    std::snprintf(text, sizeof text, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return text;
}

static const char* compiler() {
    static char text[64];
    std::snprintf(text, sizeof text, "nvcc %d.%d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
    return text;
}

