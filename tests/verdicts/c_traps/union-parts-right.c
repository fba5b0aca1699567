#include <assert.h>
#include <pthread.h>
#include <stdint.h>

union {
    uint64_t whole;
    unsigned halves[2];
    unsigned short quarters[4];
    unsigned char bytes[8];
} word;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *low(void *unused)
{
    pthread_mutex_lock(&lock);
    word.quarters[0] = 3;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, low, 0);
    pthread_mutex_lock(&lock);
    word.whole = 127;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    // nobody accesses one byte alone before
    if (word.whole == 127)
        assert(word.quarters[0] == 127 && word.halves[1] == 0 && word.bytes[2] == 0);
    return 0;
}
