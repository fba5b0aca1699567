/* C11 3.14p3: a field of no bits between two bit fields makes them two memory locations. */
#include <assert.h>
#include <pthread.h>

struct { unsigned char one : 4; unsigned char : 0; unsigned char other : 4; } fields;

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
    assert(fields.one == 1 && fields.other == 2);
    return 0;
}
