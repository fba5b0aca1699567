/* C11 6.2.4p6: x lives as long as the block, and holds what it held until its declaration is reached again. */
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int mark;

int main(void)
{
    int *place = NULL, i = 0;
again:
    if (place != NULL)
        atomic_store(&mark, *place);
    int x = ++i;
    place = &x;
    if (i < 3)
        goto again;
    assert(atomic_load(&mark) == 2);
    return 0;
}
