/* C11 6.2.4p2: a variable of a statement expression lives as long as that, and its address is no more of use then. */
#include <assert.h>

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        int *place = ({ int inside = i; &inside; });
        sum += *place;
    }
    assert(sum == 1);
    return 0;
}
