"""clang, as the front end of C and C++: what it makes of programs before it optimises them."""
