"""The check of translated programs: what compilers have made of tests, read back and held against the tests."""
