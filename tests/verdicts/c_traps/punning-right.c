/* A float is seen as an int by memcpy (C11 6.2.6.1p4): 1.0f is 0x3F800000. */
#include <assert.h>
#include <string.h>

int main(void)
{
    float one = 1.0f;
    int bits;
    memcpy(&bits, &one, sizeof bits);
    assert(bits == 0x3F800000);
    return 0;
}
