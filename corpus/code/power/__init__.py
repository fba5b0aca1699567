"""The assembly of 64-bit Power."""
