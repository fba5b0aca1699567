/* C11 7.21.6.5p2: snprintf writes, here to what another thread reads. */
#include <stdio.h>
#include <pthread.h>

char text[4];

void *thread(void *unused)
{
    snprintf(text, sizeof text, "ab");
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    char found = text[1];
    pthread_join(t, 0);
    return found & 1;
}
