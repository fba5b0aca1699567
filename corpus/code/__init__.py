"""Code that is read: one room for all languages of kernels, tests and machine code (docs/adr/0011)."""
