/* The attribute packed (GCC): a member is accessed by its name wherever it is. */
#include <assert.h>
#include <pthread.h>

struct __attribute__((packed)) { char tag; int value; } packed;

void *thread(void *unused)
{
    packed.value = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    packed.tag = 2;
    pthread_join(t, 0);
    assert(packed.value == 1 && packed.tag == 2 && sizeof packed == 5);
    return 0;
}
