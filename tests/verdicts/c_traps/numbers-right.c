/* C17 7.22.1.4, 7.22.5 and 7.24.5.8: strings become numbers, arrays are sorted and searched, texts are cut. */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

static int by_text(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

int main(void)
{
    char *end, text[] = " a, bc";
    const char *words[] = {"b", "a"};
    int numbers[] = {3, 1, 2}, key = 2;
    assert(atoi(" -12x") == -12 && strtol("0x1fg", &end, 0) == 31 && *end == 'g' && strtol("017", NULL, 0) == 15);
    assert(strtol("99999999999999999999", NULL, 10) == LONG_MAX && strtol("z", &end, 10) == 0 && *end == 'z');
    assert(strtol("-9223372036854775808", NULL, 10) == LONG_MIN && strtol("-9223372036854775809", NULL, 10) == LONG_MIN);
    qsort(numbers, 3, sizeof *numbers, by_number);
    assert(numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3);
    qsort(words, 2, sizeof *words, by_text);
    assert(strcmp(words[0], "a") == 0);
    assert(bsearch(&key, numbers, 3, sizeof *numbers, by_number) == numbers + 1);
    assert(strcmp(strtok(text, ", "), "a") == 0 && strcmp(strtok(NULL, ", "), "bc") == 0 && !strtok(NULL, ", "));
    return 0;
}
