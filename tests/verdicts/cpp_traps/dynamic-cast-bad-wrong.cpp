/* C++20 expr.dynamic.cast: a reference to an object of another class throws. */
struct Base { virtual ~Base() = default; };
struct Derived : Base { int value = 3; };
struct Other : Base { };
int main()
{
    Other other;
    Base &base = other;
    return dynamic_cast<Derived &>(base).value;
}
