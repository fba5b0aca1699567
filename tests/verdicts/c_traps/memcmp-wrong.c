/* C11 7.24.4.1p2: memcmp reads so many bytes of both. */
#include <string.h>

char one[4], other[3];

int main(void)
{
    return memcmp(one, other, 4);
}
