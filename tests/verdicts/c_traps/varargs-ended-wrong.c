/* C11 7.16.1.3p2: a list has no value behind va_end. */
#include <stdarg.h>

static int second(int count, ...)
{
    va_list list;
    va_start(list, count);
    va_end(list);
    return va_arg(list, int);
}

int main(void)
{
    return second(2, 1, 2);
}
