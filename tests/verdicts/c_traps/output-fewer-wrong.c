/* C11 7.21.6.1p2: there are fewer arguments than the format says. */
#include <stdio.h>

int main(void)
{
    const char *format = "%d of %d\n";
    printf(format, 1);
    return 0;
}
