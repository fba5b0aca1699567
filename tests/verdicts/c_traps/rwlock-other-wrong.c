/* POSIX pthread_rwlock_unlock: by a thread that does not hold the lock. */
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void *thread(void *unused)
{
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_rwlock_rdlock(&lock);
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
