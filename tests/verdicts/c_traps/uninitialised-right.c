/* C11 6.2.6.1p6 and 6.7.9p21: a structure that is copied may have members that nobody wrote, if they are not used. */
#include <assert.h>
#include <stdlib.h>

struct pair { int one, other; };

int main(void)
{
    struct pair first, *second = malloc(sizeof *second), third = {5};
    first.one = 1;
    *second = first;
    assert(second->one == 1 && third.other == 0);
    free(second);
    return 0;
}
