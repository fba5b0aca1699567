"""Progress tests: AXB programs, their text, their names, and the same tests as litmus tests."""
