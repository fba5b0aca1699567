/* C11 7.21.6.5p2: snprintf writes at most so many letters, the last of them 0, and gives how many there were to write. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

char text[4];

int main(void)
{
    int length = snprintf(text, sizeof text, "%d-%s", 12, "xyz");
    assert(length == 6 && strcmp(text, "12-") == 0);
    return 0;
}
