/* C11 6.9.1p10: between two parts of a struct of three bytes others may write what is read into them. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct color { unsigned char part[3]; };
static atomic_uchar level;
struct color found;

static struct color brighter(struct color now)
{
    now.part[1]++;
    return now;
}

static void *worker(void *unused)
{
    struct color now = {{atomic_load(&level), 7, atomic_load(&level)}};
    found = brighter(now);
    assert(found.part[0] == found.part[2] && found.part[1] == 8);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    atomic_store(&level, 200);
    pthread_join(thread, 0);
    return 0;
}
