/* C11 6.5.6p9: addresses of two objects are subtracted, and something depends on it. */
int x[4], y[4], z;

int main(void)
{
    int *volatile one = x, *volatile other = y;
    if (one - other > 2)
        z = 1;
    return 0;
}
