/* C11 7.26.4.6p2: a recursive mutex is given back once more than it was taken. */
#include <threads.h>

int main(void)
{
    mtx_t mutex;
    mtx_init(&mutex, mtx_recursive);
    mtx_lock(&mutex);
    mtx_lock(&mutex);
    mtx_unlock(&mutex);
    mtx_unlock(&mutex);
    mtx_unlock(&mutex);
    mtx_destroy(&mutex);
    return 0;
}
