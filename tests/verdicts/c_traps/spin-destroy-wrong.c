/* POSIX, pthread_spin_lock: to use a lock that is destroyed is undefined. */
#include <pthread.h>

int main(void)
{
    pthread_spinlock_t lock;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&lock);
    pthread_spin_unlock(&lock);
    pthread_spin_destroy(&lock);
    pthread_spin_lock(&lock);
    return 0;
}
