/* C11 7.21.6.1p9: the form asks for a long, and the argument is an int. */
#include <stdarg.h>
#include <stdio.h>

static void note(const char *form, ...)
{
    va_list list;
    va_start(list, form);
    vprintf(form, list);
    va_end(list);
}

int main(void)
{
    note("%d %ld\n", 1, 2);
    return 0;
}
