/* C11 6.3.2.1p2: a field beside those that are written holds nothing yet. */
#include <pthread.h>

struct fields {
    int a : 3, b : 20;
};

int found;

void *thread(void *unused)
{
    struct fields s, *p = &s;
    p->a = 1;
    if (p->b == 2)
        found = 1;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
}
