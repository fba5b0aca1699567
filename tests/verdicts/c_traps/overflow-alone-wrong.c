/* C11 6.5p5: a sum that its type does not hold is undefined, also before there are threads. */
#include <limits.h>

int main(void)
{
    int x = INT_MAX;
    x = x + 1;
    return x > 0;
}
