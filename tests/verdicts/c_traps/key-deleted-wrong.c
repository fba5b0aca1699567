/* POSIX, pthread_getspecific: the key has been deleted. */
#include <pthread.h>

int main(void)
{
    pthread_key_t key;
    pthread_key_create(&key, 0);
    pthread_setspecific(key, &key);
    pthread_key_delete(key);
    return pthread_getspecific(key) == 0;
}
