/* C++20 except.spec p5: an exception leaves a function that is noexcept: std::terminate. */


void f() noexcept {
    throw 1;
}

int main() {
    try {
        f();
    } catch (...) {}
}
