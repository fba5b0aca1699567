/* The built-in functions of GCC: __atomic_fetch_nand, which no model has. */
#include <pthread.h>

int x = 12;

void *thread(void *unused)
{
    __atomic_fetch_nand(&x, 10, __ATOMIC_SEQ_CST);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
