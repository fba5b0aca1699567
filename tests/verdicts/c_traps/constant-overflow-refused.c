// clang computes a constant that is too large for its type, and leaves nothing of it
#include <limits.h>
int main(void)
{
    int number = -(1 == 1 ? INT_MIN : 0);
    return number;
}
