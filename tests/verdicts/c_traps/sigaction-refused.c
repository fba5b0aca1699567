/* POSIX, sigaction: what handles a signal runs between two steps of a thread, which is refused by name. */
#include <signal.h>
#include <string.h>

static void handle(int number) { }

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    return sigaction(SIGINT, &action, 0);
}
