/* C11 7.13: setjmp returns twice, which is refused by name. */
#include <setjmp.h>

jmp_buf place;

int main(void)
{
    if (setjmp(place))
        return 0;
    longjmp(place, 1);
}
