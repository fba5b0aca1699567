/* C11 7.24.2.1p2: memcpy between objects that overlap is undefined. */
#include <string.h>

char text[8] = "abcdefg";

int main(void)
{
    memcpy(text + 1, text, 4);
    return 0;
}
