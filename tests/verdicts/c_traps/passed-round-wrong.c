/* C11 6.2.4p6: what x holds is indeterminate each time its declaration is reached, in the second round as well. */
#include <stdatomic.h>

atomic_int marks[2];

int main(void)
{
    for (int i = 0; i < 2; i++) {
        int x;
        if (i == 0)
            x = 1;
        atomic_store(&marks[i], x);
    }
    return 0;
}
