/* C11 7.21.6.1p8: %s reads a string as far as its end, of which here is none within the array. */
#include <stdio.h>

char text[2] = {'a', 'b'};

int main(void)
{
    printf("%d %s\n", 1, text);
    return 0;
}
