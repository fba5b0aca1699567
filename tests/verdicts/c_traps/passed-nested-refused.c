/* Which block x is of is not in what clang writes: it may be that of the loop. */
#include <stdatomic.h>

atomic_int mark;

int main(void)
{
    switch (atomic_load(&mark)) {
        int x;
    case 0:
        for (int i = 0; i < 2; i++) {
            if (i == 0)
                x = 1;
            atomic_store(&mark, x);
        }
    }
    return 0;
}
