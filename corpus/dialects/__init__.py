"""Holds the dialects of litmus tests, each a module or folder. Its parser and its printer are inverse of each other."""
