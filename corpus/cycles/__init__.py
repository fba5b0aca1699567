"""Defines critical cycles: their edges, their litmus tests, and which of them contain which."""
