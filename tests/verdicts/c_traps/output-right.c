/* C11 7.21: letters and strings are written, and what is held back is, too; a stream is there. */
#include <assert.h>
#include <stdio.h>

int main(void)
{
    assert(stderr && stdout != stderr);
    putchar('a');
    putc('b', stdout);
    fputs("c\n", stderr);
    setvbuf(stdout, NULL, _IONBF, 0);
    fflush(NULL);
    return 0;
}
