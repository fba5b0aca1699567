"""C++20 threads."""
