/* C11 7.21.6.6p2: sprintf copies between objects that overlap. */
#include <stdio.h>

int main(void)
{
    char text[16] = "a";
    sprintf(text, "%sb", text);
    return 0;
}
