"""Mutation testing of environments: the mutants each kills, how fast, and what to run. A plan also says how long to run
it.
"""
