/* C17 7.22.1.2: atoi of letters that no zero ends. */
#include <stdlib.h>

int main(void)
{
    char digits[2] = {'1', '2'};
    return atoi(digits);
}
