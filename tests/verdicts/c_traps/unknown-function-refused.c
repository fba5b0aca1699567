/* A function that has no body here and no row is refused by its name and line. */
int mystery(int *where);
int x;

int main(void)
{
    return mystery(&x);
}
