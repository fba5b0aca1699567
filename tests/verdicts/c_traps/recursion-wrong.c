/* C11 6.5.2.2p11: calls may be of the function itself: the tenth number of Fibonacci is 55. */
#include <assert.h>

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
    assert(fibonacci(10) == 54);
    return 0;
}
