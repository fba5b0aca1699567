/* C11 6.5.2.2p11: calls may be of the function itself, each with variables of its own. */
#include <assert.h>

static int count(int n, int *above)
{
    int own = n;
    if (above)
        *above += 1;
    if (n == 0)
        return 0;
    int below = count(n - 1, &own);
    return own == n + 1 ? below + 1 : -1;
}

int main(void)
{
    assert(count(5, 0) == 5);
    return 0;
}
