/* C11 7.24.6.3p2: strlen reads each letter, of which another thread writes one. */
#include <string.h>
#include <pthread.h>

char text[4] = "ab";

void *thread(void *unused)
{
    text[1] = 'c';
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    unsigned long length = strlen(text);
    pthread_join(t, 0);
    return length > 2;
}
