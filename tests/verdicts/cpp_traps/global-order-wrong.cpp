/* C++20 basic.start.term p3: static objects are destroyed from the last to the first. */


int *p;
struct A {
    ~A() {
        *p = 1;
    }
} a;
struct B {
    int *q;
    B() {
        p = q = new int(0);
    }
    ~B() {
        delete q;
    }
} b;

int main() { }
