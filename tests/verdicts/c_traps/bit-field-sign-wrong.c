/* C11 6.7.2.1p10: a bit field of a signed type holds negative numbers: of 3 bits none above 3. */
#include <assert.h>
#include <pthread.h>

struct { signed one : 3; } fields;

void *thread(void *unused)
{
    fields.one = 7;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
    assert(fields.one == 7);
    return 0;
}
