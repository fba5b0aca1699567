/* C11 7.24: lengths, comparisons, copies and searches. */
#include <assert.h>
#include <string.h>

char text[16];

int main(void)
{
    strcpy(text, "abc");
    strcat(text, "de");
    strncat(text, "fgh", 1);
    assert(strlen(text) == 6 && strcmp(text, "abcdef") == 0 && strncmp(text, "abx", 2) == 0);
    assert(strchr(text, 'c') == text + 2 && strrchr(text, 'z') == 0 && strstr(text, "cd") == text + 2);
    assert(memchr(text, 'd', 6) == text + 3 && memcmp(text, "abd", 3) < 0);
    memset(text, 'x', 16);
    strncpy(text, "a", 3);
    assert(text[0] == 'a' && text[1] == 0 && text[2] == 0 && text[3] == 'x');
    return 0;
}
