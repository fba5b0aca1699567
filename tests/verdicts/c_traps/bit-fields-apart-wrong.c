/* C11 3.14: adjacent bit fields are one memory location, also where clang accesses them apart, as these two. */
#include <pthread.h>
#include <stdlib.h>

struct fields {
    unsigned low : 8;
    unsigned high : 12;
    char next;
};

void *thread(void *argument)
{
    struct fields *fields = argument;
    fields->low = 5;
    return 0;
}

int main(void)
{
    struct fields *fields = calloc(1, sizeof *fields);
    pthread_t t;
    pthread_create(&t, 0, thread, fields);
    fields->high = 7;
    pthread_join(t, 0);
    free(fields);
    return 0;
}
