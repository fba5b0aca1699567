/* C11 6.5.5p5: whether the divisor is 0 is not known, as nothing tells what printf gives. */
#include <stdio.h>

int main(void)
{
    int share = 100 / printf("abc");
    return share & 0;
}
