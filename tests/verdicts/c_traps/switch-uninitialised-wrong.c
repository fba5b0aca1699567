/* C17 6.3.2.1p2: of the ways through a switch, memory chooses the one that sets nothing. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int x = 2;

void *thread(void *unused)
{
    atomic_store(&x, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int number = atomic_load(&x), result;
    switch (number) {
    case 1:
        break;
    case 2:
        result = 1;
    }
    atomic_store(&x, result + number);
    pthread_join(t, NULL);
    return 0;
}
