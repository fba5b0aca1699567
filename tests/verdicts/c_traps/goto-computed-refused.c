/* GNU C: an address of a label. */
#include <assert.h>

int main(void)
{
    static void *places[] = {&&one, &&other};
    int n = 1;
    goto *places[n];
one:
    assert(0);
other:
    return 0;
}
