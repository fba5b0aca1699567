/* C11 7.21.6.6p2: sprintf writes the 0 behind the last letter, too, for which there is no room. */
#include <stdio.h>

int main(void)
{
    char text[4];
    sprintf(text, "%d%c", 123, 'x');
    return text[0] == '2';
}
