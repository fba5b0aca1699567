/* C11 6.5.6p8 and J.2: a subscript is out of range even if memory of the same object is there. */
struct { int first[2]; int second[2]; } both;

static int sum(int count)
{
    int found = 0;
    for (int n = 0; n <= count; n++)
        found += both.first[n];
    return found;
}

int main(void)
{
    return sum(2);
}
