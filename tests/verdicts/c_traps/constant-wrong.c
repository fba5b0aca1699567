/* C11 6.4.5p7: a literal may not be written. */
int main(void)
{
    char *text = "abc";
    text[0] = 'x';
    return 0;
}
