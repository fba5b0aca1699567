/* C11 7.22.3.5p2: the new block has what the old one had. */
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    int *x = malloc(2 * sizeof *x);
    x[0] = 5;
    x[1] = 6;
    x = realloc(x, 4 * sizeof *x);
    x[3] = 7;
    assert(x[0] == 5 && x[1] == 6 && x[3] == 7);
    free(x);
    return 0;
}
