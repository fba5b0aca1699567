/* C11 7.24.6.1p2: memset writes so many bytes, here more than there are. */
#include <string.h>
#include <pthread.h>

int x[2];

void *thread(void *unused)
{
    memset(x, 0, sizeof x + 1);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    return 0;
}
