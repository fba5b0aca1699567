/* C11 6.5.2.2p4: a structure is given by value: the callee has a copy of its own, as the caller of the result. */
#include <assert.h>

struct big { long a[5]; };
struct small { char tag; short value; };

static struct big change(struct big one) { one.a[4]++; return one; }
static struct small swap(struct small one) { return (struct small){(char)one.value, one.tag}; }

int main(void)
{
    struct big first = {{1, 2, 3, 4, 5}}, second = change(first);
    struct small third = swap((struct small){3, 9});
    assert(first.a[4] == 5 && second.a[4] == 6 && third.tag == 9 && third.value == 3);
    return 0;
}
