/* C11 6.3.2.1p2: a letter is written that nothing has been given. */
#include <stdio.h>

int main(void)
{
    int letter;
    putchar(letter);
    return 0;
}
