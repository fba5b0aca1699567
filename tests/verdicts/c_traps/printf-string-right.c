/* C11 7.21.6.1p8: %.2s reads no more than two letters. */
#include <stdio.h>

char text[2] = {'a', 'b'};

int main(void)
{
    printf("%d %.2s\n", 1, text);
    return 0;
}
