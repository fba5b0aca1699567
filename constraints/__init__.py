"""Encodings of tests, executions and programs as clauses, and the solvers that find their models."""
