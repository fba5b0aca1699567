"""How good a testing environment is: which mutants of a suite it kills, how fast, and what to run for how long."""
