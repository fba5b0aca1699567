/* C11 6.2.4p6: goto enters the block of x anew behind its declaration, so x holds nothing. */
#include <stdatomic.h>

atomic_int marks[2];

int main(void)
{
    int i = 0;
    {
        int x;
        x = 1;
into:
        atomic_store(&marks[i], x);
    }
    if (++i < 2)
        goto into;
    return 0;
}
