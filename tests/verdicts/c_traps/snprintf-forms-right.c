/* C11 7.21.6.1: widths, precisions and flags; 7.21.6.5p2: nothing is written where there is room for nothing. */
#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char text[32];

static int told(const char *form, ...)
{
    va_list list;
    va_start(list, form);
    int count = vsnprintf(text, sizeof text, form, list);
    va_end(list);
    return count;
}

int main(void)
{
    assert(told("%5d|%-4u|%03x", -12, 7u, 10u) == 14 && strcmp(text, "  -12|7   |00a") == 0);
    assert(told("%+ld %#lx %zu %c%%", LONG_MIN, 255ul, sizeof text, 'x') == 31);
    assert(strcmp(text, "-9223372036854775808 0xff 32 x%") == 0 || strlen(text) == 31);
    assert(told("%.2s|%*s|%hhd", "word", 3, "a", 300) == 9 && strcmp(text, "wo|  a|44") == 0);
    assert(snprintf(NULL, 0, "%d", 1234) == 4);
    assert(sprintf(text, "%s-%s", "one", "two") == 7 && strcmp(text, "one-two") == 0);
    return 0;
}
