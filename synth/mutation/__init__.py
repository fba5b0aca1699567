"""Mutation testing of testing environments: the mutants that each kills, how fast, and what to run how long."""
