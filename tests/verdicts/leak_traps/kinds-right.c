/* Blocks of calloc, aligned_alloc, posix_memalign and strdup are given back. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *thread(void *unused)
{
    int *zeros = calloc(2, sizeof *zeros);
    char *aligned = aligned_alloc(64, 64);
    void *placed;
    char *text = strdup("text");
    if (posix_memalign(&placed, 64, 64) == 0)
        free(placed);
    aligned[0] = text[0];
    free(zeros);
    free(aligned);
    free(text);
    return 0;
}

int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
    return 0;
}
