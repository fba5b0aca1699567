/* C11 6.2.4p6: the block of the switch is entered in each round, and x holds nothing where no case has written it. */
#include <stdatomic.h>

atomic_int marks[2];

int main(void)
{
    for (int i = 0; i < 2; i++) {
        switch (i) {
            int x;
        case 0:
            x = 1;
        default:
            atomic_store(&marks[i], x);
        }
    }
    return 0;
}
