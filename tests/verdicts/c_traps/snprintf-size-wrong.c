/* C11 7.21.6.5p2: as many letters are written as the size says, which is more than there is room for. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *text = malloc(4);
    snprintf(text, 8, "%s", "letters");
    free(text);
    return 0;
}
