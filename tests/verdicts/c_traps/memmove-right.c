/* C11 7.24.2.2p2: memmove copies as if by another array. */
#include <assert.h>
#include <string.h>

char text[8] = "abcdefg";

int main(void)
{
    memmove(text + 1, text, 4);
    assert(strcmp(text, "aabcdfg") == 0);
    return 0;
}
