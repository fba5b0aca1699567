// an index that a constant gives is outside of its array, and inside of the object
struct { int a[3], b; } whole;
int rows[2][3];
int main(void)
{
    int number = 0;
    if (rows[0][2] == 0)
        number = whole.a[3];
    return number;
}
