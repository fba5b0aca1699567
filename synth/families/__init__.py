"""The two families of tests, progress tests and memory tests, behind one interface for the commands."""
