/* C11 6.5p5: whether the sum of two numbers that rand gives overflows is not known. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int one = rand(), other = rand();
    printf("%d\n", one + other);
    return 0;
}
