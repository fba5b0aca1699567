/* C11 6.5.2.2p11: calls of the function itself without an end, which is no execution that ends. */
static int forever(int n)
{
    return forever(n + 1) + 1;
}

int main(void)
{
    return forever(0);
}
