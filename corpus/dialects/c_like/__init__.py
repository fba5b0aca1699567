"""Holds the reader and the printer that the C dialects of litmus tests share."""
