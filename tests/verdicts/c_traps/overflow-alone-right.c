/* C11 6.2.5p9: sums without sign are those modulo a power of two. */
#include <assert.h>
#include <limits.h>

int main(void)
{
    unsigned x = UINT_MAX;
    x = x + 1;
    assert(x == 0);
    return 0;
}
