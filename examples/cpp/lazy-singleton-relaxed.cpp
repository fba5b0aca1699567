// A value that the first thread makes which asks for it, with double-checked locking.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class Settings {
public:
    static const Settings& get()
    {
        const Settings* found = instance_.load(std::memory_order_relaxed);
        if (!found) {
            std::lock_guard guard{mutex_};
            found = instance_.load(std::memory_order_relaxed);
            if (!found) {
                found = new Settings;
                instance_.store(found, std::memory_order_release);
            }
        }
        return *found;
    }
    [[nodiscard]] int limit() const { return limit_; }

private:
    Settings() : limit_{8} {}
    int limit_;
    static inline std::atomic<const Settings*> instance_{nullptr};
    static inline std::mutex mutex_;
};

int main()
{
    auto use = [] { assert(Settings::get().limit() == 8); };
    std::thread a{use}, b{use};
    a.join();
    b.join();
}
