/* C11 7.22.3.3p2: what is given back has to be the beginning of a block. */
#include <stdlib.h>

int main(void)
{
    int *x = malloc(8);
    free(x + 1);
    return 0;
}
