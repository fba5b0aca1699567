/* C11 7.22.3.4p2: what malloc gives has no value; a branch depends on it. */
#include <stdlib.h>

int main(void)
{
    int *x = malloc(sizeof *x);
    if (*x == 3)
        return 1;
    free(x);
    return 0;
}
