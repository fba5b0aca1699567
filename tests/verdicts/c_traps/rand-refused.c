/* C11 7.22.2.1: whether a number that rand gives is a certain one is not understood. */
#include <stdlib.h>

static int data[4];

int main(void)
{
    int place = rand();
    if (place < 4)
        data[place] = 1;
    return 0;
}
