/* C11 7.21.6.3p3: how many letters printf has written, or that it failed, is not understood where it decides. */
#include <stdio.h>

int main(void)
{
    int result = 0;
    if (printf("abc") == 3)
        result = 1;
    return result;
}
