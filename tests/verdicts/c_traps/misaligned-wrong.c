/* C11 6.3.2.3p7: an address that is not aligned for the type that it is converted to is undefined. */
char bytes[16];

int main(void)
{
    char *place = bytes + 1;
    int *number = (int *)place;
    *number = 1;
    return 0;
}
