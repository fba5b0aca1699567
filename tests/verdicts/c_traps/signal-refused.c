/* C11 7.14: what handles a signal runs between two steps of a thread, which is refused by name. */
#include <signal.h>

static volatile sig_atomic_t got;

static void handle(int number) { got = number; }

int main(void)
{
    signal(SIGINT, handle);
    return got;
}
