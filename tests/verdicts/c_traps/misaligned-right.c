/* C11 6.3.2.3p7: an array that is aligned for an int holds one, and memcpy needs no alignment. */
#include <assert.h>
#include <string.h>

_Alignas(int) char bytes[16];

int main(void)
{
    int one = 1, other = 0;
    *(int *)(bytes + 4) = one;
    memcpy(bytes + 9, &one, sizeof one);
    memcpy(&other, bytes + 9, sizeof other);
    assert(other == 1);
    return 0;
}
