/* C11 7.22.3.5p2: realloc gives the old block back, whether the new one is in its place or not. */
#include <stdlib.h>

int main(void)
{
    int *x = calloc(2, sizeof *x);
    int *y = realloc(x, 16);
    if (y == 0)
        return 1;
    return x[0];
}
