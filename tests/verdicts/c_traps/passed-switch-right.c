/* C11 6.8.4.2p7: the jump to a case passes the declaration of x, which each way writes before it reads it. */
#include <assert.h>
#include <stdatomic.h>

atomic_int marks[2];

int main(void)
{
    for (int i = 0; i < 2; i++) {
        switch (i) {
            int x;
        case 0:
            x = 1;
            atomic_store(&marks[i], x);
            break;
        default:
            x = 2;
            atomic_store(&marks[i], x);
        }
    }
    assert(atomic_load(&marks[0]) == 1 && atomic_load(&marks[1]) == 2);
    return 0;
}
