"""What changed between two devices, drivers, compilers or dates: two choices of results, test by test."""
