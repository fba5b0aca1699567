/* Words of verifiers: a loop that goes on as long as nothing tells it to end does not go on for ever. */
#include <stdbool.h>

bool __VERIFIER_nondet_bool(void);

int main(void)
{
    while (__VERIFIER_nondet_bool()) { }
    return 0;
}
