"""The changes between two devices, drivers, compilers or dates: two choices of results, compared test by test."""
