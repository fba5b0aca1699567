// A promise that holds: whatever is read is 0 or 2 (clang, __builtin_assume).
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
int y;

void *writes(void *unused) {
    atomic_store(&x, 2);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writes, 0);
    int read = atomic_load(&x);
    __builtin_assume(read < 3);
    y = read;
    return pthread_join(thread, 0);
}
