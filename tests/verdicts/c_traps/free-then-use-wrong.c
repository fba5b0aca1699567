/* C11 6.2.4p2 and 7.22.3.3: a block that is given back is no more. */
#include <stdlib.h>

int main(void)
{
    int *x = calloc(1, sizeof *x);
    free(x);
    return *x;
}
