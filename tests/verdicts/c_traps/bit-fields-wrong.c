/* C11 3.14p2: two bit fields side by side are one memory location: writes of two threads race. */
#include <pthread.h>

struct { unsigned one : 4; unsigned other : 4; } fields;

void *thread(void *unused)
{
    fields.one = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    fields.other = 2;
    pthread_join(t, 0);
    return 0;
}
