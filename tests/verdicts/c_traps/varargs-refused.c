/* C11 7.16: what is behind the dots, of which each is promoted. */
#include <assert.h>
#include <stdarg.h>

static int sum(int count, ...)
{
    va_list list;
    int found = 0;
    va_start(list, count);
    for (int n = 0; n < count; n++)
        found += va_arg(list, int);
    va_end(list);
    return found;
}

int main(void)
{
    assert(sum(3, 1, (char)2, 3) == 6);
    return 0;
}
