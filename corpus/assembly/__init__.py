"""Reads the assembly of C litmus tests as compilers leave it: litmus tests in the words of the processor."""
