/* OpenMP is not followed without the option -fopenmp, which no one gives: the pragma is refused by name. */
int main(void)
{
    int x = 0;
#pragma omp parallel num_threads(2)
    x++;
    return x;
}
