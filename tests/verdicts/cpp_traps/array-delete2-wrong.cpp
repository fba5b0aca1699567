/* C++20 expr.delete p2: what new gives is given back by delete. */


int main() {
    int *p = new int(2);
    delete[] p;
}
