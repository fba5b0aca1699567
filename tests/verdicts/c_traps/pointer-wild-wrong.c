/* C11 6.5.6p8: an address is moved before its array. */
int x[4];

int main(void)
{
    int *here = x + 2;
    int back = 3;
    return here[-back];
}
