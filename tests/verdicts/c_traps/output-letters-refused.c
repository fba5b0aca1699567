/* C11 7.21.6.1p8: how many letters printf has written is not understood. */
#include <stdio.h>

int main(void)
{
    int count;
    printf("abc%n", &count);
    return count;
}
