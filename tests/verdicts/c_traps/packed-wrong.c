/* The attribute packed (GCC): the int is at 1, and its address is none of an int, of which others make use. */
#include <pthread.h>

struct __attribute__((packed)) { char tag; int value; } packed;

void *thread(void *argument)
{
    *(int *)argument = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, &packed.value);
    pthread_join(t, 0);
    return 0;
}
