/* C11 6.2.4p6: the block of the loop is entered behind the declaration of x, which nothing has written. */
#include <stdatomic.h>

atomic_int sum;

int main(void)
{
    int rounds = 2;
    switch (5 % 4) {
    case 0:
        do {
            int x;
            x = 1;
    case 1:
            atomic_fetch_add(&sum, x);
        } while (--rounds > 0);
    }
    return 0;
}
