/* C11 7.22.3.5p2: what a new block has more than the old one has no value. */
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    int *x = calloc(1, sizeof *x);
    x = realloc(x, 2 * sizeof *x);
    assert(x[0] == 0);
    return x[1] == 0;
}
