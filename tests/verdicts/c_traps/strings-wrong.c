/* C11 7.24.2.3p2: strcpy writes the 0 at the end too. */
#include <string.h>

char text[3];

int main(void)
{
    strcpy(text, "abc");
    return 0;
}
