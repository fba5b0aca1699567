/* C11 6.2.4p6: goto goes back inside of the block of x, behind its declaration, so x keeps its value. */
#include <assert.h>
#include <stdatomic.h>

atomic_int marks[2];

int main(void)
{
    int i = 0;
    {
        int x;
again:
        if (i == 0)
            x = 1;
        atomic_store(&marks[i], x);
        if (++i < 2)
            goto again;
    }
    assert(atomic_load(&marks[1]) == 1);
    return 0;
}
