/* C11 7.16.1.1p2, 7.19p3: a list of pointers is ended by 0, which is an int and no null pointer where dots stand. */
#include <stdarg.h>

static int length(const char *first, ...)
{
    va_list list;
    int found = 0;
    va_start(list, first);
    for (const char *word = first; word; word = va_arg(list, const char *))
        found++;
    va_end(list);
    return found;
}

int main(void)
{
    return length("one", "other", 0);
}
