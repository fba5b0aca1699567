"""Implements the back end for C++20 with its threads."""
