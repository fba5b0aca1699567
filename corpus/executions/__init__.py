"""Defines executions whose program is not given, and their litmus tests. Suites of a model are made from them."""
