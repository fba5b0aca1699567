/* C11 6.8.4.2: Duff's device; the first round begins behind the declaration of x, and each case writes it. */
#include <assert.h>
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
            atomic_fetch_add(&sum, x);
    case 1:
            x = 10;
            atomic_fetch_add(&sum, x);
        } while (--rounds > 0);
    }
    assert(atomic_load(&sum) == 21);
    return 0;
}
