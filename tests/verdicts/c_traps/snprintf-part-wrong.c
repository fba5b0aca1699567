/* C11 7.21.6.5p2: what is written behind the string comes to where it was read. */
#include <stdio.h>

static char text[16] = "....abc";

int main(void)
{
    snprintf(text, sizeof text, "%s->", text + 4);
    return 0;
}
