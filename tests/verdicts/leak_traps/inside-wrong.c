/* A global variable points to what was in a block, and no more. */
#include <pthread.h>
#include <stdlib.h>

struct pair { int one, other; };
static int *inside, other;

static void *thread(void *unused)
{
    struct pair *pair = malloc(sizeof *pair);
    pair->other = 1;
    inside = &pair->other;
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    other = *inside;
    inside = &other;
    return 0;
}
