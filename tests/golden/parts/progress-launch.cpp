static void set_up() {}

static std::uint32_t iterate(const bool warm_up) {
    for (auto& cell : memory) cell.store(0u, std::memory_order_relaxed);
    if (warm_up) WARM_UP.store(1u, std::memory_order_relaxed);
    std::latch start(THREADS * INSTANCES);
    std::vector<std::thread> threads;
    try {
        for (std::uint32_t group = 0; group < THREADS * INSTANCES; ++group)
            threads.emplace_back([group, &start] { start.arrive_and_wait(); test(group); });
    } catch (const std::system_error& error) {
        // The threads that did start wait for the others.
        char what[200];
        std::snprintf(what, sizeof what, "cannot start %u threads: %.99s", THREADS * INSTANCES, error.what());
        fail(what, 2);
    }
    for (auto& thread : threads) thread.join();
    return FINISHED.load();
}

