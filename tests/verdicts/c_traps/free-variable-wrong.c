/* C11 7.22.3.3p2: what is given back has to be of malloc. */
#include <stdlib.h>

int x;

int main(void)
{
    free(&x);
    return 0;
}
