/* C11 7.21.6.5p2: strings of the object that is written to, before and behind what is written. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

struct { char before[4], text[8], behind[4]; } all = {"one", "", "two"};

int main(void)
{
    snprintf(all.text, sizeof all.text, "%s %s", all.before, all.behind);
    assert(strcmp(all.text, "one two") == 0);
    snprintf(all.text, 4, "%s", all.behind);
    return strcmp(all.text, "two");
}
