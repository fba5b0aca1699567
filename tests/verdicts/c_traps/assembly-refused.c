/* Assembly is not understood, and said so, where it does more than wait. */
int x;

int main(void)
{
    int result;
    __asm__ volatile("movl $1, %0" : "=r"(result));
    return result + x;
}
