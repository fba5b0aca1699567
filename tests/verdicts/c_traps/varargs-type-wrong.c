/* C11 7.16.1.1p2: the next argument is a long, and is read as an int. */
#include <stdarg.h>

static int first(int count, ...)
{
    va_list list;
    va_start(list, count);
    int found = va_arg(list, int);
    va_end(list);
    return found;
}

int main(void)
{
    return first(1, sizeof(char) - 1);
}
