/* C11 6.7.2.1p11 and 6.7.9p10: fields beside one that nobody has written may be written and read. */
#include <assert.h>
#include <pthread.h>

struct fields {
    signed char a : 3, b : 5;
    int c : 20, d : 12;
};

void *thread(void *unused)
{
    struct fields s, *p = &s;
    p->a = -1;
    p->d = -5;
    assert(p->a == -1 && p->d == -5);
    p->b = 3;
    p->c = 9;
    assert(p->a == -1 && p->b == 3 && p->c == 9 && p->d == -5);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
}
