"""Defines executions whose program is not given, from which suites of a model are made, and their litmus tests."""
