"""Kernels of GPU languages as compilers leave them, and their specialisation to one launch as litmus tests."""
