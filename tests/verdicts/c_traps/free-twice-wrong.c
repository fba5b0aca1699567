/* C11 7.22.3.3p2: a block is given back twice. */
#include <stdlib.h>

int main(void)
{
    int *x = malloc(4), *y = x;
    free(x);
    free(y);
    return 0;
}
