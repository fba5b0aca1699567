// A promise that does not hold is undefined: the value that another thread writes may be 2 (clang, __builtin_assume).
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
    __builtin_assume(read < 2);
    y = read;
    return pthread_join(thread, 0);
}
