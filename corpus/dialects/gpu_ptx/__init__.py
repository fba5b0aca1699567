"""Holds GPU_PTX, the PTX dialect of litmus tests in Alglave et al. 2015."""
