/* C11 6.2.4p6: what x holds is indeterminate each time its declaration is reached, by goto as well. */
#include <stdatomic.h>

atomic_int marks[2];

int main(void)
{
    int i = 0;
again:;
    int x;
    if (i == 0)
        x = 1;
    atomic_store(&marks[i], x);
    if (++i < 2)
        goto again;
    return 0;
}
