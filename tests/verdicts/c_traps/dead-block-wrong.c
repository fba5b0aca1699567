/* C11 6.2.4p6: a variable of a block is no more behind the block. */
int main(void)
{
    int *where;
    {
        int x = 1;
        where = &x;
    }
    return *where - 1;
}
