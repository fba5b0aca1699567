/* C11 7.22.3.2p2: what calloc gives is 0; 7.22.3.1p2: an aligned block. */
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    long *x = calloc(3, sizeof *x), *y = aligned_alloc(64, 128);
    y[15] = x[2];
    assert(x[2] == 0 && y[15] == 0);
    free(x);
    free(y);
    return 0;
}
