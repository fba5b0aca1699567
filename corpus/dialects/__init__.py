"""Holds the dialects of litmus tests. Each is a module or folder with a parser and a printer that are inverse of each
other.
"""
