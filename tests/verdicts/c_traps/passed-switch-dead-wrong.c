/* C11 6.2.4p2: the lifetime of x ends with the block of the switch, though a jump passes its declaration. */
#include <stdatomic.h>

atomic_int mark;

int main(void)
{
    int *place = &(int){0};
    switch (atomic_load(&mark)) {
        int x;
    case 0:
        x = 1;
        place = &x;
    }
    return *place;
}
