/* C11 6.3.2.1p2: a variable is used that nothing was assigned to and whose address nobody has taken. */
static int count;

int main(void)
{
    int x;
    if (count > 7)
        x = 1;
    return x == 1;
}
