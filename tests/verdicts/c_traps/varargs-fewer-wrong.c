/* C11 7.16.1.1p2: there is no next argument. */
#include <stdarg.h>

static int sum(int count, ...)
{
    va_list list;
    int found = 0;
    va_start(list, count);
    for (int n = 0; n <= count; n++)
        found += va_arg(list, int);
    va_end(list);
    return found;
}

int main(void)
{
    return sum(3, 1, 2, 3);
}
