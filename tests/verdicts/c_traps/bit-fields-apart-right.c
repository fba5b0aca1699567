/* C11 3.14: a field of width 0 makes two memory locations, and what is no bit field is one of its own. */
#include <pthread.h>
#include <stdlib.h>

struct fields {
    unsigned low : 8;
    unsigned : 0;
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
    fields->next = 1;
    pthread_join(t, 0);
    free(fields);
    return 0;
}
