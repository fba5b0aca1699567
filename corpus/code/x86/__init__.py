"""The assembly of x86-64."""
