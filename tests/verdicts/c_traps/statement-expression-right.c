/* Statement expressions, as the lists of Linux have them: their value is that of their last expression. */
#include <assert.h>
#include <stddef.h>

#define container_of(address, type, member)                           \
    ({                                                                \
        const __typeof__(((type *)0)->member) *inside = (address);    \
        (type *)((char *)inside - offsetof(type, member));            \
    })

struct list { struct list *next; };
struct item { int value; struct list list; };

struct list head;

int main(void)
{
    struct item one = {1}, two = {2}, *item;
    int sum = 0;
    head.next = &one.list, one.list.next = &two.list, two.list.next = &head;
    for (item = container_of(head.next, struct item, list); &item->list != &head;
         item = container_of(item->list.next, struct item, list))
        sum += item->value;
    assert(sum == 3);
    return 0;
}
