"""The families of progress tests and memory tests, behind one interface for commands."""
